// The chip as the host tiling may ask for it. Values come with the request, from rules/devices.
#pragma once

#include <mutex>

#include "detail/types.h"

namespace fe {
enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatFormInfos {
public:
    bool Init() { return true; }
    bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value);
    bool GetPlatformRes(const std::string& label, std::map<std::string, std::string>& values);
    bool GetPlatformResWithLock(const std::string& label, const std::string& key,
                                std::string& value);
    bool GetPlatformResWithLock(const std::string& label,
                                std::map<std::string, std::string>& values);
    void SetPlatformRes(const std::string& label, std::map<std::string, std::string>& values);
    uint32_t GetCoreNum() const { return core_num_; }
    uint32_t GetCoreNumWithLock() const { return core_num_; }
    uint32_t GetCoreNumByType(const std::string& core_type) const;
    void SetCoreNum(const uint32_t& count) { core_num_ = count; }
    void SetCoreNumByCoreType(const std::string& core_type);
    void GetLocalMemSize(const LocalMemType& type, uint64_t& size) const;
    void GetLocalMemBw(const LocalMemType& type, uint64_t& bandwidth) const;
    void SetCoreType(const std::string&) {}

    // Flat facts by name: cores.aic, cores.aiv, memory.ub …, soc.version.
    std::map<std::string, std::string> facts;
    uint64_t number(const std::string& name, uint64_t otherwise) const;

private:
    uint32_t core_num_ = 0;
};

class OptionalInfos {
public:
    bool Init() { return true; }
    std::string GetSocVersion() { return soc_version; }
    std::string GetCoreType() { return "AiCore"; }
    uint32_t GetAICoreNum() { return ai_core_num_; }
    void SetSocVersion(const std::string& version) { soc_version = version; }
    void SetAICoreNum(uint32_t count) { ai_core_num_ = count; }
    void SetCoreType(const std::string&) {}
    void SetSocVersionWithLock(const std::string& version) { soc_version = version; }

    std::string soc_version;  // some read it without asking

private:
    uint32_t ai_core_num_ = 0;
};
using OptionalInfo = OptionalInfos;

struct StrInfo {
    std::string aic_version;
    std::string ccec_aic_version;
    std::string ccec_aiv_version;
    std::string is_support_ai_cpu_compiler;
    std::string short_soc_version;
};
struct SoCInfo {
    uint32_t ai_core_cnt = 0;
    uint32_t vector_core_cnt = 0;
    uint32_t ai_cpu_cnt = 0;
    uint64_t l2_size = 0;
    uint64_t memory_size = 0;
};
struct AiCoreSpec {
    uint64_t ub_size = 0;
    uint64_t l1_size = 0;
    uint64_t l0_a_size = 0;
    uint64_t l0_b_size = 0;
    uint64_t l0_c_size = 0;
};
struct PlatformInfo {
    StrInfo str_info;
    SoCInfo soc_info;
    AiCoreSpec ai_core_spec;
};

class PlatformInfoManager {
public:
    static PlatformInfoManager& Instance();
    static PlatformInfoManager& GeInstance() { return Instance(); }
    uint32_t InitializePlatformInfo() { return 0; }
    uint32_t GetPlatformInfos(const std::string&, PlatFormInfos& infos, OptionalInfos& optional);
    uint32_t GetPlatformInfo(const std::string&, PlatformInfo& info, OptionalInfos& optional);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos& infos, OptionalInfos& optional);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& info, OptionalInfos& optional);
    uint32_t GetPlatformInstanceByDevice(const uint32_t&, PlatFormInfos& infos);
    uint32_t InitRuntimePlatformInfos(const std::string&) { return 0; }
    uint32_t GetRuntimePlatformInfosByDevice(const uint32_t&, PlatFormInfos& infos);
};
}  // namespace fe

enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_1911 = 1911,
    DAV_2002 = 2002,
    DAV_2006 = 2006,
    DAV_2102 = 2102,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3004 = 3004,
    DAV_3102 = 3102,
    DAV_3113 = 3113,
    DAV_3505 = 3505,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_RESV = 0xFFFF
};

namespace platform_ascendc {
enum class CoreMemType {
    L0_A = 0,
    L0_B = 1,
    L0_C = 2,
    L1 = 3,
    L2 = 4,
    UB = 5,
    HBM = 6,
    FB = 7,
    BT = 8,
    RESERVED
};
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND950,
    ASCEND910_55,
    ASCEND910_95 = ASCEND950,
    AS31XM1,
    ASCEND031,
    ASCEND035,
    ASCEND310,
    ASCEND610,
    ASCEND610Lite,
    ASCEND910_93,
    BS9SX1A,
    BS9SX2A,
    HI3796CV300CS,
    HI3796CV300ES,
    MC61AM21A,
    MC62,
    SD3403,
    KIRINX90,
    KIRIN9030,
    MC32DM11A,
    ASCEND350,
    RESERVED_VERSION = 99999
};
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {}
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const;
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const {
        return CalcTschBlockDim(slices, aic, aiv);
    }
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const;
    uint32_t GetResGroupBarrierWorkSpaceSize() const;
    void GetCoreMemSize(const CoreMemType& type, uint64_t& size) const;
    void GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const;
    void ReserveLocalMemory(ReservedSize size);
    SocVersion GetSocVersion() const;
    NpuArch GetCurNpuArch() const;
    uint32_t GetVecRegLen() const;

private:
    fe::PlatFormInfos* infos_;
    uint64_t reserved_ = 0;
};

class PlatformAscendCManager {
public:
    static PlatformAscendC* GetInstance();
    static PlatformAscendC* GetInstance(const char*) { return GetInstance(); }
};
}  // namespace platform_ascendc

#ifndef ASCENDC_ASSERT
#define ASCENDC_ASSERT(cond, behavior) \
    do {                               \
        if (!(cond)) {                 \
            behavior;                  \
            __builtin_trap();          \
        }                              \
    } while (0)
#endif
