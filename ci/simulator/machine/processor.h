// What has to be known of this computer's own instructions and registers, x86-64 or aarch64.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace dav {

// An instruction, as far as counting needs it.
struct Decoded {
    enum class Kind : uint8_t {
        COUNTED,
        FREE,   // padding, and what only keeps this processor's registers over a call
        CALL,   // what an instruction of the chip costs is the machine's to say
        LEAVES  // a jump that is always taken, a return, or nothing that is known here
    };
    int length = 0;  // bytes; 0: not known here
    Kind kind = Kind::LEAVES;
    const uint8_t* target = nullptr;  // of a direct call
    bool divides = false;             // a division or a square root, of integers or floats
};

// The instruction at `code`, of the baseline that kernels are compiled for.
Decoded decode(const uint8_t* code, const uint8_t* end);

constexpr int STUB_BYTES = 32;  // that `slot_of_stub` may read
// The slot that a linker's stub jumps through, null where `stub` is none.
const uint8_t* slot_of_stub(const uint8_t* stub);

// Where a signal stopped the program.
const void* program_counter(const ucontext_t& context);

// Goes on behind a division that trapped: quotient 0 and the dividend as the remainder, as the AI
// core has it; the one overflowing signed division keeps its dividend. False for another trap.
bool pass_division(ucontext_t& context);

// Has the instruction that faulted at `address` run on `true_address`, which lies in the core's
// unified buffer `ub` of `ub_bytes`. `room` is memory of a page that may be written and executed.
void run_elsewhere(ucontext_t& context, const void* address, void* true_address, uint8_t* room,
                   const uint8_t* ub, uint64_t ub_bytes);
// After that instruction, by SIGTRAP: puts the registers back and goes on behind it.
void run_on(ucontext_t& context);

}  // namespace dav
