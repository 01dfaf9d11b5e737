#include "machine.h"

#include <cstring>

#include "constants.h"
#include "scalar.h"

namespace dav {

Core* current = nullptr;

Launch& launch() {
    static Launch instance;
    return instance;
}

const char* pipe_name(int pipe) {
    static const char* const NAMES[] = {"SCALAR", "VECTOR", "CUBE", "MTE1",
                                        "MTE2",   "MTE3",   "ALL",  "FIX"};
    return pipe >= 0 && pipe < PIPES ? NAMES[pipe] : "an unknown pipe";
}

std::vector<const char*>& mnemonic_names() {
    static std::vector<const char*> names{"none"};
    return names;
}

uint16_t mnemonic_number(const char* mnemonic) {
    // Literals repeat by address, so a small direct-mapped cache answers nearly always.
    struct Entry {
        const char* name;
        uint16_t number;
    };
    static Entry cache[256] = {};
    Entry& entry = cache[(reinterpret_cast<size_t>(mnemonic) >> 2) % 256];
    if (entry.name == mnemonic) return entry.number;
    std::vector<const char*>& names = mnemonic_names();
    uint16_t number = 0;
    while (number < names.size() && std::strcmp(names[number], mnemonic) != 0) ++number;
    if (number == names.size()) names.push_back(mnemonic);
    entry = {mnemonic, number};
    return number;
}

uint32_t site_offset(const void* site) {
    if (site == nullptr) return 0;
    for (const uint32_t cube : {0, 1}) {
        const uint64_t offset = static_cast<const uint8_t*>(site) - launch().image[cube];
        if (launch().image[cube] != nullptr && offset < launch().image_bytes[cube])
            return static_cast<uint32_t>(offset) | (cube ? CUBE_SITE : 0);
    }
    return 0;
}

const void* site_address(uint32_t offset) {
    return launch().image[offset & CUBE_SITE ? 1 : 0] + (offset & ~CUBE_SITE);
}

Record transfer_record(const Transfer& span, int pipe, const char* mnemonic) {
    Core& core = *current;
    core.transfers.push_back(span);
    core.transfers.back().bypass = core.copies.bypass_l2;
    core.copies.bypass_l2 = false;
    launch().ports[int(span.port)] = true;
    const auto number = static_cast<uint32_t>(core.transfers.size() - 1);
    return Record::numbered(Kind::TRANSFER, pipe, number, mnemonic);
}

uint32_t append(Record record, const void* site) {
    static const size_t limit = static_cast<size_t>(constants().get("limit.records"));
    Core& core = *current;
    if (core.records.size() >= limit)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "Core %d issued more than %zu instructions; this looks like an endless loop.",
             core.index, limit);
    charge_scalar_code();
    if (launch().addresses) {
        core.scalar.pending = {};
        return 0;
    }
    record.scalar = works().scalar.number(core.scalar.pending);
    core.scalar.pending = {};
    record.site = site_offset(core.site != nullptr ? core.site : site);
    const uint32_t number = static_cast<uint32_t>(core.records.size());
    core.records.push_back(record);
    if (record.kind == Kind::SCALAR || record.kind == Kind::COMPUTE ||
        record.kind == Kind::TRANSFER)
        core.order.last[record.pipe] = number;
    return number;
}

VectorState& vector_state() { return current->vector; }

uint32_t local_offset(Memory memory, const void* pointer) {
    const MemoryPlace& place = place_of(memory);
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const uint64_t distance = address - reinterpret_cast<uint64_t>(current->ub);
    if (distance >= place.start && distance < LOCAL_BYTES) return static_cast<uint32_t>(distance);
    // Front door 2 passes true offsets.
    constexpr uint64_t WINDOW = 1 << 20;
    return address < WINDOW ? place.start + static_cast<uint32_t>(address) : UINT32_MAX;
}

uint32_t ub_offset(const void* pointer) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const uint64_t base = reinterpret_cast<uint64_t>(current->ub);
    constexpr uint64_t WINDOW = 1 << 20;
    if (address >= base && address - base < WINDOW) return static_cast<uint32_t>(address - base);
    // Front door 2 passes true offsets.
    return address < 256 * 1024 ? static_cast<uint32_t>(address) : UINT32_MAX;
}

uint8_t* ub_address(const void* pointer) { return current->ub + ub_offset(pointer); }

}  // namespace dav
