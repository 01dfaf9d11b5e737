#ifdef __x86_64__

#include <algorithm>
#include <cstring>

#include "processor.h"

namespace dav {
namespace {

constexpr int LONGEST = 15;  // bytes of an instruction
constexpr greg_t TRAP_FLAG = 0x100;
constexpr uint8_t SHORT_ADDRESS = 0x67;  // prefix: the address has 32 bits and no sign
constexpr int NONE = -1;

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

// Integer (f6, f7) and SSE divisions (0f 5e), and square roots (0f 51).
bool divides(const Opcode& op, int extension) {
    if (op.map == TWO_BYTES) return op.byte == 0x5e || op.byte == 0x51;
    return op.map == ONE_BYTE && in(op.byte, 0xf6, 0xf7) && extension >= 6;
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

int32_t word(const uint8_t* at) {
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

// Length of the x86 division at `code`, with its operand size and whether it is signed.
struct Division {
    int length = 0;
    int bits = 32;
    bool is_signed = false;
};

Division decode_division(const uint8_t* code) {
    Division division;
    int at = 0;
    bool operand16 = false;
    bool wide = false;
    for (; code[at] == 0x66 || code[at] == 0x2e || code[at] == 0x3e; ++at)
        operand16 |= code[at] == 0x66;
    if ((code[at] & 0xf0) == 0x40) wide = code[at++] & 8;
    const uint8_t opcode = code[at++];
    if (opcode != 0xf6 && opcode != 0xf7) return division;
    const uint8_t modrm = code[at++];
    const int operation = (modrm >> 3) & 7;
    if (operation != 6 && operation != 7) return division;
    const int mode = modrm >> 6;
    const int base = modrm & 7;
    if (mode != 3) {
        if (base == 4) {
            const uint8_t scaled = code[at++];
            if (mode == 0 && (scaled & 7) == 5) at += 4;
        } else if (mode == 0 && base == 5) {
            at += 4;
        }
        at += mode == 1 ? 1 : mode == 2 ? 4 : 0;
    }
    division.length = at;
    division.is_signed = operation == 7;
    division.bits = opcode == 0xf6 ? 8 : operand16 ? 16 : wide ? 64 : 32;
    return division;
}

// Where the rewritten instruction runs, and what to go back to.
uint64_t behind_address = 0;  // original address of the bytes behind the memory operand
uint64_t behind_room = 0;     // their place in the room
int moved[2] = {NONE, NONE};  // registers of a block instruction that point into UB
greg_t moved_by = 0;

bool is_prefix(uint8_t byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 ||
           byte == 0x3e || byte == 0x26 || byte == 0xf0 || byte == SHORT_ADDRESS;
}

// The ModRM byte's position in the instruction at `code`; copies what stands before it to `copy`,
// without the extension of the index register.
int before_operand(const uint8_t* code, uint8_t* copy) {
    int at = 0;
    while (is_prefix(code[at])) ++at;
    std::memcpy(copy, code, LONGEST);
    if (code[at] == 0xc5) return at + 3;
    if (code[at] == 0xc4) {
        copy[at + 1] |= 0x40;  // inverted in this prefix
        return at + 4;
    }
    if ((code[at] & 0xf0) == 0x40) copy[at++] &= ~0x02;
    if (code[at] != 0x0f) return at + 1;
    return code[at + 1] == 0x38 || code[at + 1] == 0x3a ? at + 3 : at + 2;
}

// The opcode of a block instruction (movs 0xa4, 0xa5; stos 0xaa, 0xab), 0 for any other.
uint8_t block_opcode(const uint8_t* code) {
    while (is_prefix(*code) || (*code & 0xf0) == 0x40) ++code;
    return (*code & 0xfe) == 0xa4 || (*code & 0xfe) == 0xaa ? *code : 0;
}

void move_register(greg_t* registers, int number, const uint8_t* ub, uint64_t ub_bytes) {
    if (static_cast<uint64_t>(registers[number]) >= ub_bytes) return;
    moved_by = reinterpret_cast<greg_t>(ub);
    registers[number] += moved_by;
    moved[moved[0] == NONE ? 0 : 1] = number;
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
    Decoded found{int(rest - bytes), kind_of(op, extension), nullptr, divides(op, extension)};
    if (found.length > LONGEST || found.length > end - code) return {};
    if (op.map == ONE_BYTE && op.byte == 0xe8)
        found.target = code + found.length + word(code + found.length - 4);
    return found;
}

const uint8_t* slot_of_stub(const uint8_t* stub) {
    if (word(stub) == word(reinterpret_cast<const uint8_t*>("\xf3\x0f\x1e\xfa"))) stub += 4;
    if (*stub == 0xf2) ++stub;
    if (stub[0] != 0xff || stub[1] != 0x25) return nullptr;
    return stub + 6 + word(stub + 2);
}

const void* program_counter(const ucontext_t& context) {
    return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
}

bool pass_division(ucontext_t& context) {
    greg_t* registers = context.uc_mcontext.gregs;
    const Division division =
        decode_division(static_cast<const uint8_t*>(program_counter(context)));
    if (division.length == 0) return false;
    const auto low = static_cast<uint64_t>(registers[REG_RAX]);
    const bool overflow = division.is_signed &&
                          ((division.bits == 32 && uint32_t(low) == 0x80000000u &&
                            uint32_t(registers[REG_RDX]) == 0xffffffffu) ||
                           (division.bits == 64 && low == 1ull << 63 && registers[REG_RDX] == -1));
    if (division.bits == 8) {
        registers[REG_RAX] = static_cast<greg_t>((low & ~0xffffull) | ((low & 0xff) << 8));
    } else {
        const uint64_t part = division.bits == 64 ? ~0ull : (1ull << division.bits) - 1;
        const uint64_t keep = division.bits == 16 ? ~0xffffull : 0;
        const auto high = static_cast<uint64_t>(registers[REG_RDX]);
        registers[REG_RDX] = static_cast<greg_t>((high & keep) | (overflow ? 0 : low & part));
        registers[REG_RAX] = static_cast<greg_t>((low & keep) | (overflow ? low & part : 0));
    }
    registers[REG_RIP] += division.length;
    return true;
}

void run_elsewhere(ucontext_t& context, const void*, void* true_address, uint8_t* room,
                   const uint8_t* ub, uint64_t ub_bytes) {
    greg_t* registers = context.uc_mcontext.gregs;
    const auto* code = static_cast<const uint8_t*>(program_counter(context));
    registers[REG_EFL] |= TRAP_FLAG;
    if (const uint8_t opcode = block_opcode(code)) {
        move_register(registers, REG_RDI, ub, ub_bytes);
        if (opcode < 0xaa) move_register(registers, REG_RSI, ub, ub_bytes);
        return;
    }
    room[0] = SHORT_ADDRESS;
    uint8_t* copy = room + 1;
    const int before = before_operand(code, copy);
    const uint8_t* modrm = code + before;
    const int length = operand_bytes(modrm);
    // The operand becomes a plain 32-bit address: every UB lies below 4 GiB.
    const auto target = static_cast<uint32_t>(reinterpret_cast<uint64_t>(true_address));
    copy += before;
    *copy++ = (*modrm & 0x38) | 0x04;
    *copy++ = 0x25;
    std::memcpy(copy, &target, sizeof(target));
    copy += sizeof(target);
    std::memcpy(copy, modrm + length, LONGEST);
    behind_address = reinterpret_cast<uint64_t>(modrm + length);
    behind_room = reinterpret_cast<uint64_t>(copy);
    registers[REG_RIP] = reinterpret_cast<greg_t>(room);
}

void run_on(ucontext_t& context) {
    greg_t* registers = context.uc_mcontext.gregs;
    registers[REG_EFL] &= ~TRAP_FLAG;
    bool block = false;
    for (int& number : moved) {
        if (number == NONE) continue;
        registers[number] -= moved_by;
        number = NONE;
        block = true;
    }
    if (!block) registers[REG_RIP] += static_cast<greg_t>(behind_address - behind_room);
}

}  // namespace dav

#endif
