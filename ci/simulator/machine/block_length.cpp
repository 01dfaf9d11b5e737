#include "block_length.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "processor.h"

namespace dav {
namespace {

constexpr char HOOK[] = "__sanitizer_cov_trace_pc";
constexpr char WATCH[] = "__tsan_";
constexpr uint16_t MOST = UINT16_MAX;  // instructions of a block; none written by hand comes near

// Bytes of a library from where it was loaded to the end of its code.
size_t code_bytes(uint64_t loaded) {
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(loaded);
    const auto* parts = reinterpret_cast<const ElfW(Phdr)*>(loaded + header->e_phoff);
    uint64_t end = 0;
    for (const auto* part = parts; part != parts + header->e_phnum; ++part)
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0)
            end = std::max(end, part->p_vaddr + part->p_filesz);
    return end;
}

}  // namespace

BlockLengths::BlockLengths(const link_map& map)
    : code_(reinterpret_cast<const uint8_t*>(map.l_addr)), counts_(code_bytes(map.l_addr)) {
    const ElfW(Rela) * tables[2]{};
    size_t bytes[2]{};
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
        const auto pointer = entry->d_un.d_ptr;  // the loader has made it an address
        if (entry->d_tag == DT_JMPREL) tables[0] = reinterpret_cast<const ElfW(Rela)*>(pointer);
        if (entry->d_tag == DT_PLTRELSZ) bytes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_RELA) tables[1] = reinterpret_cast<const ElfW(Rela)*>(pointer);
        if (entry->d_tag == DT_RELASZ) bytes[1] = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(pointer);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(pointer);
    }
    for (int t = 0; t < 2; ++t) {
        for (size_t i = 0; tables[t] != nullptr && i < bytes[t] / sizeof(ElfW(Rela)); ++i) {
            const ElfW(Rela) & slot = tables[t][i];
            const char* name = names + symbols[ELF64_R_SYM(slot.r_info)].st_name;
            if (std::strcmp(name, HOOK) == 0)
                hooks_[slot.r_offset] = Callee::BLOCK_HOOK;
            else if (std::strncmp(name, WATCH, sizeof(WATCH) - 1) == 0)
                hooks_[slot.r_offset] = Callee::ACCESS_HOOK;
        }
    }
}

// What a call of `target` reaches: stubs jump through a slot that the loader fills.
BlockLengths::Callee BlockLengths::callee(const uint8_t* target) const {
    if (!holds(target) || !holds(target + STUB_BYTES)) return Callee::OTHER;
    const uint8_t* slot = slot_of_stub(target);
    if (slot == nullptr) return Callee::OTHER;
    const auto found = hooks_.find(uint64_t(slot - code_));
    return found == hooks_.end() ? Callee::OTHER : found->second;
}

// Calls count nothing, and the access hooks take away the move of the address that they take: they
// are not the kernel's.
BlockLengths::Length BlockLengths::count_from(const uint8_t* next) const {
    const uint8_t* end = code_ + counts_.size();
    int count = 0;
    int divisions = 0;
    while (next < end) {
        const Decoded found = decode(next, end);
        if (found.kind == Decoded::Kind::CALL && found.target != nullptr) {
            const Callee called = callee(found.target);
            if (called == Callee::BLOCK_HOOK) break;
            if (called == Callee::ACCESS_HOOK) count = std::max(0, count - 1);
        }
        if (found.length == 0) break;
        count += found.kind == Decoded::Kind::COUNTED || found.kind == Decoded::Kind::LEAVES;
        divisions += found.divides;
        if (found.kind == Decoded::Kind::LEAVES) break;
        next += found.length;
    }
    return {static_cast<uint16_t>(std::clamp<int>(count, 1, MOST)),
            static_cast<uint16_t>(std::min<int>(divisions, MOST))};
}

}  // namespace dav
