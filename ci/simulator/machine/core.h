// What the parts of the machine see of each other: the core that is running, its memories, and
// the ways in which an instruction checks its operands and books its time.
//
// An instruction (an intrinsic of intrinsics_*.h) does two things: it computes on the memories in
// program order, and before that it calls one of the `issue_*` functions below, which check
// bounds, alignment and hazards and append a record for the timing pass. Nothing here throws:
// a failed check ends the launch by `fail`, which leaves the block's stack and never returns, so
// that no candidate code can catch it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "architecture.h"
#include "vector_state.h"
#include "work.h"

namespace dav {

// The memories of a core (architecture.h, generated from rules/architectures) lie at fixed
// distances from its UB, with unmapped pages between them; such a distance ("local offset") names a
// byte of any of them. BLOCK_BYTES is the unit of UB addressing, strides and hazard shadows,
// REPEAT_BYTES what the vector unit takes in a repeat.
inline const MemoryPlace& place_of(Memory memory) { return MEMORIES[int(memory)]; }

// In-order pipes of a core, in the numbering of pipe_t.
enum Pipe : uint8_t { S = 0, V = 1, M = 2, MTE1 = 3, MTE2 = 4, MTE3 = 5, ALL = 6, FIX = 7 };
constexpr int PIPES = 8;  // index 6 (ALL) is never a pipe of its own
const char* pipe_name(int pipe);

enum class Outcome { LAUNCH_ERROR, RACE, MEMORY_ERROR };

// Ends the launch with this outcome; printf-like. `site` is the code address of the offending
// call, `other` that of the access it conflicts with (or null).
[[noreturn]] void fail(Outcome outcome, const void* site, const void* other, const char* format,
                       ...) __attribute__((format(printf, 4, 5)));
// Notes something that does not end the launch, once for each (kind, site). `subject` is the
// instruction or buffer that it is about, or "": with `kind` it says what two warnings have in
// common, so both are identifiers and hold no figures.
void warn(const void* site, const char* kind, const char* subject, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// The same of two accesses: `other` is the code address of the earlier one.
void warn_pair(const void* site, const void* other, const char* kind, const char* subject,
               const char* format, ...) __attribute__((format(printf, 5, 6)));

// How surely two accesses that nothing orders go wrong, the surest first.
enum class RaceKind {
    BETWEEN,      // of two pipes, or of two cores
    SCALAR,       // the scalar unit is one of the two
    SCALAR_READ,  // a value that the scalar unit has read is overwritten: a race unless it was used
};
// Notes a race, once for each pair of code addresses. The launch goes on as if the two were
// ordered, and ends as a race.
void race(RaceKind kind, const void* site, const void* other, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// When an operand is read, where the instruction's result lies on it.
enum class ReadOrder : uint8_t {
    REPEATS,        // each repeat reads its part, as strides and span say
    BEFORE_WRITES,  // no repeat reads what an earlier one writes
    BEHIND_WRITES,  // one does
};

// One operand of a vector instruction: what it touches of UB, for the checks and bank conflicts.
// Repeat r touches `blocks` 32-byte blocks, block b at address + 32*(r*repeat_stride +
// b*block_stride). When `span` is not 0 the strides are ignored: repeat r touches the `span`
// contiguous bytes at address + r*repeat_bytes (repeat_bytes 0: the same bytes each time), which
// suits reductions that write single elements, masks, index tables.
struct VectorOperand {
    const void* address;
    uint32_t block_stride = 1;
    uint32_t repeat_stride = 8;
    uint8_t blocks = 8;
    bool write = false;
    uint8_t tail_blocks = 0;  // blocks touched in the last repeat when fewer; 0: as the others
    uint8_t alignment = 32;   // bytes that the address must be a multiple of
    uint32_t span = 0;
    uint32_t repeat_bytes = 0;
    ReadOrder order = ReadOrder::REPEATS;
};

// A vector instruction of `repeats` (after mask and counter mode have been worked out; 0 is
// legal and only costs the issue). Call it BEFORE touching memory. Costs come from the device
// table under vector.<mnemonic>.<dtype>, else vector.<mnemonic>.
// `mnemonic` and `dtype` ("f16", "f32", "s32", "u8", "bf16" …; for conversions "f322f16") must
// be string literals: works are told apart by their addresses. `extra_cycles` is added to
// the occupancy for data-dependent instructions.
void issue_vector(const char* mnemonic, const char* dtype, uint32_t repeats,
                  const VectorOperand* operands, int count, void* site, uint32_t extra_cycles = 0);

// A special-purpose register written by vector instructions (accumulator, min/max count, compare
// mask …) is read by the scalar unit: orders S after the vector instructions before it.
void read_vector_register(const char* name, void* site, bool waits = false);

// `cycles` of scalar work (setting a mask or a register costs 1).
void issue_scalar(uint32_t cycles);
// Scalar work that the device file prices.
void count_scalar(ScalarUnit unit);

// Where an UB pointer really lies on this host. Accepts real host addresses within this core's UB
// and, for front door 2, true offsets below 256 KiB. Check with issue_* first.
uint8_t* ub_address(const void* pointer);
// The local offset of a pointer into one of the memories, or UINT32_MAX when it is none. Accepts
// host addresses and true offsets within that memory.
uint32_t local_offset(Memory memory, const void* pointer);
// The true UB offset of a pointer, or a value >= UB_BYTES when it is not in UB.
uint32_t ub_offset(const void* pointer);

// Vector registers and modes of the running core.
VectorState& vector_state();
// The mask of the running core (part of vector_state()).
inline MaskState& mask() { return vector_state().mask; }

}  // namespace dav
