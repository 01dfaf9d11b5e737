#include "block_length.h"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace dav {
namespace {

constexpr char HOOK[] = "__sanitizer_cov_trace_pc";
constexpr char WATCH[] = "__tsan_";
constexpr int LONGEST = 15;            // bytes of an instruction
constexpr uint16_t MOST = UINT16_MAX;  // instructions of a block; none written by hand comes near

bool in(uint8_t byte, uint8_t first, uint8_t last) { return byte >= first && byte <= last; }

// The opcode maps of the manual: one byte, behind 0f, behind 0f 38, behind 0f 3a.
enum Map { ONE_BYTE, TWO_BYTES, THREE_38, THREE_3A };

struct Opcode {
    Map map = ONE_BYTE;
    uint8_t byte = 0;
    uint8_t prefix = 0;     // 66, f2 or f3, the last one
    bool wide = false;      // REX.W or VEX.W
    bool extended = false;  // REX.B
    bool vex = false;
    bool short_address = false;
};

bool has_modrm(const Opcode& op) {
    const uint8_t byte = op.byte;
    if (op.map == ONE_BYTE) {
        if (byte < 0x40) return (byte & 7) < 4;
        return in(byte, 0x62, 0x63) || byte == 0x69 || byte == 0x6b || in(byte, 0x80, 0x8f) ||
               in(byte, 0xc0, 0xc1) || in(byte, 0xc6, 0xc7) || in(byte, 0xd0, 0xd3) ||
               in(byte, 0xd8, 0xdf) || in(byte, 0xf6, 0xf7) || in(byte, 0xfe, 0xff);
    }
    if (op.map != TWO_BYTES) return true;
    return !(in(byte, 0x05, 0x0b) || byte == 0x0e || in(byte, 0x30, 0x37) || byte == 0x77 ||
             in(byte, 0x80, 0x8f) || in(byte, 0xa0, 0xa2) || in(byte, 0xa8, 0xaa) ||
             in(byte, 0xc8, 0xcf));
}

// Bytes of the immediate operand; `extension` is the middle field of ModRM.
int immediate_bytes(const Opcode& op, int extension) {
    const uint8_t byte = op.byte;
    const int full = op.prefix == 0x66 && !op.wide ? 2 : 4;
    if (op.map == THREE_3A) return 1;
    if (op.map == THREE_38) return 0;
    if (op.map == TWO_BYTES) {
        if (in(byte, 0x80, 0x8f)) return 4;
        const bool one = in(byte, 0x70, 0x73) || byte == 0xa4 || byte == 0xac || byte == 0xba ||
                         byte == 0xc2 || in(byte, 0xc4, 0xc6);
        return one ? 1 : 0;
    }
    if (byte < 0x40) return (byte & 7) == 4 ? 1 : (byte & 7) == 5 ? full : 0;
    if (in(byte, 0xb8, 0xbf)) return op.wide ? 8 : full;
    if (in(byte, 0xa0, 0xa3)) return op.short_address ? 4 : 8;
    if (byte == 0x68 || byte == 0x69 || byte == 0x81 || byte == 0xa9 || byte == 0xc7) return full;
    if (byte == 0xe8 || byte == 0xe9) return 4;
    if (byte == 0xc2 || byte == 0xca) return 2;
    if (byte == 0xc8) return 3;
    if (byte == 0xf6) return extension < 2 ? 1 : 0;
    if (byte == 0xf7) return extension < 2 ? full : 0;
    const bool one = byte == 0x6a || byte == 0x6b || in(byte, 0x70, 0x7f) || byte == 0x80 ||
                     byte == 0x83 || byte == 0xa8 || in(byte, 0xb0, 0xb7) || in(byte, 0xc0, 0xc1) ||
                     byte == 0xc6 || byte == 0xcd || in(byte, 0xe0, 0xe7) || byte == 0xeb;
    return one ? 1 : 0;
}

// Bytes of ModRM, SIB and displacement.
int operand_bytes(const uint8_t* modrm) {
    const int mode = *modrm >> 6;
    if (mode == 3) return 1;
    const bool scaled = (*modrm & 7) == 4;
    const int base = (scaled ? modrm[1] : *modrm) & 7;
    const int displacement = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
    return 1 + scaled + displacement;
}

Decoded::Kind kind_of(const Opcode& op, int extension) {
    using Kind = Decoded::Kind;
    const uint8_t byte = op.byte;
    if (op.vex) return Kind::COUNTED;
    if (op.map == TWO_BYTES) {
        if (byte == 0x0b) return Kind::LEAVES;      // ud2
        const bool padding = in(byte, 0x19, 0x1f);  // nop, endbr64
        const bool kept = in(byte, 0xa0, 0xa1) || in(byte, 0xa8, 0xa9);
        return padding || kept ? Kind::FREE : Kind::COUNTED;
    }
    if (op.map != ONE_BYTE) return Kind::COUNTED;
    if (byte == 0xe8 || (byte == 0xff && extension == 2)) return Kind::CALL;
    if (byte == 0xe9 || byte == 0xeb || (byte == 0xff && extension == 4)) return Kind::LEAVES;
    if (byte == 0xc2 || byte == 0xc3) return Kind::LEAVES;
    const bool padding = byte == 0x90 && !op.extended && op.prefix != 0xf3;
    const bool kept = in(byte, 0x50, 0x5f) || byte == 0x68 || byte == 0x6a ||
                      in(byte, 0x9c, 0x9d) || (byte == 0x8f && extension == 0) ||
                      (byte == 0xff && extension == 6);
    return padding || kept ? Kind::FREE : Kind::COUNTED;
}

// Reads prefixes and opcode at `code`; answers what follows them, null where nothing is known.
const uint8_t* read_opcode(const uint8_t* code, Opcode& op) {
    for (;; ++code) {
        if (*code == 0x66 || *code == 0xf2 || *code == 0xf3)
            op.prefix = *code;
        else if (*code == 0x67)
            op.short_address = true;
        else if (*code != 0x2e && *code != 0x36 && *code != 0x3e && *code != 0x26 &&
                 *code != 0x64 && *code != 0x65 && *code != 0xf0)
            break;
    }
    if (*code == 0xc4 || *code == 0xc5) {
        op.vex = true;
        const int map = *code == 0xc5 ? int(TWO_BYTES) : code[1] & 0x1f;
        if (map < TWO_BYTES || map > THREE_3A) return nullptr;
        op.map = Map(map);
        code += *code == 0xc5 ? 2 : 3;
    } else {
        if ((*code & 0xf0) == 0x40) {
            op.wide = *code & 8;
            op.extended = *code & 1;
            ++code;
        }
        if (*code == 0x0f) {
            op.map = code[1] == 0x38 ? THREE_38 : code[1] == 0x3a ? THREE_3A : TWO_BYTES;
            code += op.map == TWO_BYTES ? 1 : 2;
        }
    }
    op.byte = *code++;
    return op.map == ONE_BYTE && op.byte == 0x62 ? nullptr : code;
}

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

int32_t word(const uint8_t* at) {
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

}  // namespace

Decoded decode(const uint8_t* code, const uint8_t* end) {
    // A copy, so that the last instruction's reader does not leave the code.
    uint8_t bytes[LONGEST + 8]{};
    std::memcpy(bytes, code, std::min<size_t>(LONGEST, size_t(end - code)));
    Opcode op;
    const uint8_t* rest = read_opcode(bytes, op);
    if (rest == nullptr) return {};
    int extension = 0;
    if (has_modrm(op)) {
        extension = *rest >> 3 & 7;
        rest += operand_bytes(rest);
    }
    rest += immediate_bytes(op, extension);
    Decoded found{int(rest - bytes), kind_of(op, extension), nullptr};
    if (found.length > LONGEST || found.length > end - code) return {};
    if (op.map == ONE_BYTE && op.byte == 0xe8)
        found.target = code + found.length + word(code + found.length - 4);
    return found;
}

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
    if (!holds(target) || !holds(target + 2 * LONGEST)) return Callee::OTHER;
    if (word(target) == word(reinterpret_cast<const uint8_t*>("\xf3\x0f\x1e\xfa"))) target += 4;
    if (*target == 0xf2) ++target;
    if (target[0] != 0xff || target[1] != 0x25) return Callee::OTHER;
    const auto found = hooks_.find(uint64_t(target + 6 + word(target + 2) - code_));
    return found == hooks_.end() ? Callee::OTHER : found->second;
}

// Calls count nothing, and the access hooks take away the move of the address that they take: they
// are not the kernel's.
uint16_t BlockLengths::count_from(const uint8_t* next) const {
    const uint8_t* end = code_ + counts_.size();
    int count = 0;
    while (next < end) {
        const Decoded found = decode(next, end);
        if (found.kind == Decoded::Kind::CALL && found.target != nullptr) {
            const Callee called = callee(found.target);
            if (called == Callee::BLOCK_HOOK) break;
            if (called == Callee::ACCESS_HOOK) count = std::max(0, count - 1);
        }
        if (found.length == 0) break;
        count += found.kind == Decoded::Kind::COUNTED || found.kind == Decoded::Kind::LEAVES;
        if (found.kind == Decoded::Kind::LEAVES) break;
        next += found.length;
    }
    return static_cast<uint16_t>(std::clamp<int>(count, 1, MOST));
}

}  // namespace dav
