#ifdef __aarch64__

#include <cstring>

#include "processor.h"

// Encodings: Arm Architecture Reference Manual for A-profile, C4 "A64 instruction set encoding".
namespace dav {
namespace {

constexpr int BYTES = 4;  // of every instruction
constexpr uint32_t BREAKPOINT = 0xd4200000;
constexpr uint32_t STACK = 31;  // as a base register
constexpr uint32_t FIRST_KEPT = 19;
constexpr uint32_t LAST_KEPT = 30;

uint32_t word(const uint8_t* at) {
    uint32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

uint32_t field(uint32_t code, int low, int bits) { return code >> low & ((1u << bits) - 1); }

int64_t signed_field(uint32_t code, int low, int bits) {
    const auto value = static_cast<int64_t>(field(code, low, bits));
    return value >> (bits - 1) == 0 ? value : value - (int64_t(1) << bits);
}

bool is_pair(uint32_t code) { return (code & 0x3a000000) == 0x28000000; }

// Registers that a function gives back as they were, saved on the stack or read from there.
bool keeps_registers(uint32_t code) {
    const bool whole_pair = (code & 0xfe000000) == 0xa8000000;
    const bool whole = (code & 0xff000000) == 0xf9000000 || (code & 0xff200000) == 0xf8000000;
    const uint32_t first = field(code, 0, 5);
    return (whole_pair || whole) && field(code, 5, 5) == STACK && first >= FIRST_KEPT &&
           first <= LAST_KEPT;
}

// What `run_on` undoes.
uint64_t behind = 0;
uint32_t base_register = STACK;
uint64_t moved_by = 0;
bool base_is_loaded = false;

}  // namespace

Decoded decode(const uint8_t* code, const uint8_t* end) {
    using Kind = Decoded::Kind;
    if (end - code < BYTES) return {};
    const uint32_t one = word(code);
    if ((one & 0xfc000000) == 0x94000000)  // bl
        return {BYTES, Kind::CALL, code + signed_field(one, 0, 26) * BYTES};
    if ((one & 0xfffffc1f) == 0xd63f0000) return {BYTES, Kind::CALL, nullptr};    // blr
    if ((one & 0xfc000000) == 0x14000000) return {BYTES, Kind::LEAVES, nullptr};  // b
    const bool by_register = (one & 0xfffffc1f) == 0xd61f0000;                    // br
    const bool returns = (one & 0xfffffc1f) == 0xd65f0000;
    const bool stops = (one & 0xffe0001f) == BREAKPOINT || one >> 16 == 0;  // brk, udf
    if (by_register || returns || stops) return {BYTES, Kind::LEAVES, nullptr};
    const bool padding = (one & 0xfffff01f) == 0xd503201f;  // nop, bti, paciasp
    const bool whole = (one & 0x7fe0f800) == 0x1ac00800;    // udiv, sdiv
    const bool floats = (one & 0xff20fc00) == 0x1e201800;   // fdiv
    const bool root = (one & 0xff3ffc00) == 0x1e21c000;     // fsqrt
    return {BYTES, padding || keeps_registers(one) ? Kind::FREE : Kind::COUNTED, nullptr,
            whole || floats || root};
}

const uint8_t* slot_of_stub(const uint8_t* stub) {
    if ((word(stub) & 0xfffff01f) == 0xd503201f) stub += BYTES;  // bti c
    const uint32_t page = word(stub);
    const uint32_t slot = word(stub + BYTES);
    // adrp x16, page; ldr x17, [x16, offset]
    if ((page & 0x9f00001f) != 0x90000010 || (slot & 0xffc003ff) != 0xf9400211) return nullptr;
    const int64_t pages = signed_field(page, 5, 19) * 4 + field(page, 29, 2);
    const uint64_t here = reinterpret_cast<uint64_t>(stub) & ~uint64_t(0xfff);
    return reinterpret_cast<const uint8_t*>(here + uint64_t(pages * 4096) +
                                            field(slot, 10, 12) * 8);
}

const void* program_counter(const ucontext_t& context) {
    return reinterpret_cast<const void*>(context.uc_mcontext.pc);
}

// This processor does not trap, and gives what the AI core gives.
bool pass_division(ucontext_t&) { return false; }

// The instruction keeps its encoding: its base register points as much higher as UB lies.
void run_elsewhere(ucontext_t& context, const void* address, void* true_address, uint8_t* room,
                   const uint8_t*, uint64_t) {
    auto& state = context.uc_mcontext;
    const uint32_t code = word(reinterpret_cast<const uint8_t*>(state.pc));
    const uint32_t last = BREAKPOINT;
    std::memcpy(room, &code, BYTES);
    std::memcpy(room + BYTES, &last, BYTES);
    __builtin___clear_cache(reinterpret_cast<char*>(room),
                            reinterpret_cast<char*>(room + 2 * BYTES));
    behind = state.pc + BYTES;
    base_register = field(code, 5, 5);
    moved_by = reinterpret_cast<uint64_t>(true_address) - reinterpret_cast<uint64_t>(address);
    const bool general = (code & 0x04000000) == 0;
    const bool load = is_pair(code) ? field(code, 22, 1) != 0 : field(code, 22, 2) != 0;
    const bool second = is_pair(code) && field(code, 10, 5) == base_register;
    base_is_loaded = general && load && (field(code, 0, 5) == base_register || second);
    auto& base = base_register == STACK ? state.sp : state.regs[base_register];
    base += moved_by;
    state.pc = reinterpret_cast<uint64_t>(room);
}

void run_on(ucontext_t& context) {
    auto& state = context.uc_mcontext;
    // A base that is written back has moved on from where it was.
    auto& base = base_register == STACK ? state.sp : state.regs[base_register];
    if (!base_is_loaded) base -= moved_by;
    state.pc = behind;
}

}  // namespace dav

#endif
