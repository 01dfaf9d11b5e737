// Answers of the platform queries, from the facts in the request.
#include "detail/platform.h"

#include <cstdlib>

#include "runtime/runtime.h"

namespace fe {
namespace {
// Names of the platform resource tables that host code asks for, and the fact behind each.
struct Resource {
    const char* label;
    const char* key;
    const char* fact;
};
constexpr Resource kResources[] = {
    {"SoCInfo", "ai_core_cnt", "cores.aic"},
    {"SoCInfo", "cube_core_cnt", "cores.aic"},
    {"SoCInfo", "vector_core_cnt", "cores.aiv"},
    {"SoCInfo", "l2_size", "memory.l2"},
    {"SoCInfo", "memory_size", "memory.hbm"},
    {"AICoreSpec", "ub_size", "memory.ub"},
    {"AICoreSpec", "l1_size", "memory.l1"},
    {"AICoreSpec", "l0_a_size", "memory.l0a"},
    {"AICoreSpec", "l0_b_size", "memory.l0b"},
    {"AICoreSpec", "l0_c_size", "memory.l0c"},
    {"AICoreSpec", "bt_size", "memory.bt"},
    {"AICoreSpec", "fb0_size", "memory.fb"},
    {"AICoreSpec", "cube_freq", "clock.mhz"},
    {"AICoreMemoryRates", "ddr_rate", "bandwidth.hbm_bytes_per_cycle"},
    {"AICoreMemoryRates", "l2_rate", "bandwidth.l2_bytes_per_cycle"},
    {"version", "Short_SoC_version", "soc.short"},
    {"version", "SoC_version", "soc.version"},
    {"version", "NpuArch", "soc.arch"},
    {"version", "AIC_version", "soc.aic_version"},
};
// Instructions that the cube-side tilings of 910B look for.
constexpr const char* kIntrinsics[] = {"Intrinsic_data_move_l12ub", "Intrinsic_data_move_l0c2ub",
                                       "Intrinsic_data_move_out2l1_nd2nz",
                                       "Intrinsic_fix_pipe_l0c2out"};
}  // namespace

uint64_t PlatFormInfos::number(const std::string& name, uint64_t otherwise) const {
    const auto found = facts.find(name);
    return found == facts.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

bool PlatFormInfos::GetPlatformRes(const std::string& label, const std::string& key,
                                   std::string& value) {
    for (const Resource& r : kResources) {
        if (label == r.label && key == r.key) {
            const auto found = facts.find(r.fact);
            if (found == facts.end()) return false;
            value = found->second;
            return true;
        }
    }
    if (label == "AICoreintrinsicDtypeMap" && (key == kIntrinsics[2] || key == kIntrinsics[3])) {
        value = "float16,float32,bfloat16";
        return true;
    }
    return false;
}

bool PlatFormInfos::GetPlatformRes(const std::string& label,
                                   std::map<std::string, std::string>& values) {
    values.clear();
    for (const Resource& r : kResources) {
        std::string value;
        if (label == r.label && GetPlatformRes(label, r.key, value)) values[r.key] = value;
    }
    return !values.empty();
}

bool PlatFormInfos::GetPlatformResWithLock(const std::string& label, const std::string& key,
                                           std::string& value) {
    return GetPlatformRes(label, key, value);
}

bool PlatFormInfos::GetPlatformResWithLock(const std::string& label,
                                           std::map<std::string, std::string>& values) {
    return GetPlatformRes(label, values);
}

void PlatFormInfos::SetPlatformRes(const std::string&, std::map<std::string, std::string>&) {}

uint32_t PlatFormInfos::GetCoreNumByType(const std::string& core_type) const {
    const bool vector = core_type == "VectorCore" || core_type == "AiVector";
    return static_cast<uint32_t>(number(vector ? "cores.aiv" : "cores.aic", 0));
}

void PlatFormInfos::SetCoreNumByCoreType(const std::string& core_type) {
    core_num_ = GetCoreNumByType(core_type);
}

void PlatFormInfos::GetLocalMemSize(const LocalMemType& type, uint64_t& size) const {
    constexpr const char* kNames[] = {"memory.l0a", "memory.l0b", "memory.l0c", "memory.l1",
                                      "memory.l2",  "memory.ub",  "memory.hbm"};
    const auto i = static_cast<size_t>(type);
    size = i < sizeof(kNames) / sizeof(kNames[0]) ? number(kNames[i], 0) : 0;
}

void PlatFormInfos::GetLocalMemBw(const LocalMemType& type, uint64_t& bandwidth) const {
    bandwidth = number(
        type == LocalMemType::L2 ? "bandwidth.l2_bytes_per_cycle" : "bandwidth.hbm_bytes_per_cycle",
        0);
}

PlatformInfoManager& PlatformInfoManager::Instance() {
    static PlatformInfoManager manager;
    return manager;
}

uint32_t PlatformInfoManager::GetPlatformInfos(const std::string&, PlatFormInfos& infos,
                                               OptionalInfos& optional) {
    return GetPlatformInfoWithOutSocVersion(infos, optional);
}

uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatFormInfos& infos,
                                                               OptionalInfos& optional) {
    infos = host::current_platform();
    optional.SetSocVersion(infos.facts["soc.version"]);
    optional.SetAICoreNum(static_cast<uint32_t>(infos.number("cores.aic", 0)));
    return 0;
}

uint32_t PlatformInfoManager::GetPlatformInfo(const std::string&, PlatformInfo& info,
                                              OptionalInfos& optional) {
    return GetPlatformInfoWithOutSocVersion(info, optional);
}

uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatformInfo& info,
                                                               OptionalInfos& optional) {
    PlatFormInfos all;
    GetPlatformInfoWithOutSocVersion(all, optional);
    info.soc_info.ai_core_cnt = static_cast<uint32_t>(all.number("cores.aic", 0));
    info.soc_info.vector_core_cnt = static_cast<uint32_t>(all.number("cores.aiv", 0));
    info.soc_info.l2_size = all.number("memory.l2", 0);
    info.str_info.short_soc_version = all.facts["soc.short"];
    info.ai_core_spec.ub_size = all.number("memory.ub", 0);
    info.ai_core_spec.l1_size = all.number("memory.l1", 0);
    info.ai_core_spec.l0_a_size = all.number("memory.l0a", 0);
    info.ai_core_spec.l0_b_size = all.number("memory.l0b", 0);
    info.ai_core_spec.l0_c_size = all.number("memory.l0c", 0);
    return 0;
}

uint32_t PlatformInfoManager::GetPlatformInstanceByDevice(const uint32_t&, PlatFormInfos& infos) {
    infos = host::current_platform();
    return 0;
}

uint32_t PlatformInfoManager::GetRuntimePlatformInfosByDevice(const uint32_t& device,
                                                              PlatFormInfos& infos) {
    return GetPlatformInstanceByDevice(device, infos);
}
}  // namespace fe

namespace platform_ascendc {
namespace {
// Workspace that the high-level library and the system share on 910B.
constexpr uint32_t kLibraryWorkspaceBytes = 16 * 1024 * 1024;
constexpr uint32_t kGroupWorkspaceBytes = 1024 * 1024;
constexpr uint32_t kBarrierWorkspaceBytes = 1024 * 1024;
}  // namespace

uint32_t PlatformAscendC::GetCoreNum() const { return infos_->GetCoreNum(); }
uint32_t PlatformAscendC::GetCoreNumAic() const {
    return static_cast<uint32_t>(infos_->number("cores.aic", 0));
}
uint32_t PlatformAscendC::GetCoreNumAiv() const {
    return static_cast<uint32_t>(infos_->number("cores.aiv", 0));
}
uint32_t PlatformAscendC::GetCoreNumVector() const { return 0; }

uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
    if (aic == 0 || aiv == 0 || aic > aiv) return slices;
    const uint32_t ratio = aiv / aic;
    return (slices + ratio - 1) / ratio;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const { return kLibraryWorkspaceBytes; }
uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const { return kGroupWorkspaceBytes; }
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return kBarrierWorkspaceBytes; }

void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& size) const {
    if (type == CoreMemType::FB || type == CoreMemType::BT) {
        size = infos_->number(type == CoreMemType::FB ? "memory.fb" : "memory.bt", 0);
        return;
    }
    infos_->GetLocalMemSize(static_cast<fe::LocalMemType>(type), size);
    // The framework keeps some bytes of UB and of L1 of each core for itself.
    const uint64_t kept = infos_->number("memory.reserved", 0);
    if ((type == CoreMemType::UB || type == CoreMemType::L1) && size > kept) size -= kept;
    if (type == CoreMemType::UB && size > reserved_) size -= reserved_;
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const {
    infos_->GetLocalMemBw(static_cast<fe::LocalMemType>(type), bandwidth);
}

void PlatformAscendC::ReserveLocalMemory(ReservedSize size) {
    reserved_ = 8192ULL << static_cast<int>(size);
}

SocVersion PlatformAscendC::GetSocVersion() const {
    const auto found = infos_->facts.find("soc.short");
    if (found == infos_->facts.end()) return SocVersion::RESERVED_VERSION;
    const std::string& name = found->second;
    return name == "Ascend910B"   ? SocVersion::ASCEND910B
           : name == "Ascend910"  ? SocVersion::ASCEND910
           : name == "Ascend310P" ? SocVersion::ASCEND310P
           : name == "Ascend310B" ? SocVersion::ASCEND310B
                                  : SocVersion::RESERVED_VERSION;
}

NpuArch PlatformAscendC::GetCurNpuArch() const {
    return static_cast<NpuArch>(
        infos_->number("soc.arch", static_cast<uint64_t>(NpuArch::DAV_RESV)));
}

uint32_t PlatformAscendC::GetVecRegLen() const {
    return static_cast<uint32_t>(infos_->number("vector.repeat_bytes", 0));
}

PlatformAscendC* PlatformAscendCManager::GetInstance() {
    static PlatformAscendC instance(&host::current_platform());
    return &instance;
}
}  // namespace platform_ascendc
