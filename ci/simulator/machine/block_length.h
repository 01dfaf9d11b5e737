// Instructions of a loaded kernel's basic blocks, for the scalar unit's clock.
//
// The compiler calls a hook at the start of every basic block (-fsanitize-coverage=trace-pc). What
// follows such a call, up to the next one or to where control leaves, is the block. It is counted
// in the code that runs, when it runs for the first time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

struct link_map;

namespace dav {

class BlockLengths {
public:
    BlockLengths() = default;
    // Of the library that `map` stands for.
    explicit BlockLengths(const link_map& map);

    // Whether `next` lies in the code.
    bool holds(const uint8_t* next) const { return size_t(next - code_) < counts_.size(); }
    // Instructions of the block whose hook returns to `next`; at least 1.
    uint16_t at(const uint8_t* next) {
        uint16_t& count = counts_[size_t(next - code_)];
        if (__builtin_expect(count == 0, 0)) count = count_from(next);
        return count;
    }

private:
    enum class Callee : uint8_t { OTHER, BLOCK_HOOK, ACCESS_HOOK };

    uint16_t count_from(const uint8_t* next) const;
    Callee callee(const uint8_t* target) const;

    const uint8_t* code_ = nullptr;
    std::vector<uint16_t> counts_;                // by byte of the code; 0: not counted yet
    std::unordered_map<uint64_t, Callee> hooks_;  // by the slot that a stub jumps through
};

// An x86-64 instruction, as far as counting needs it.
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
};

// The instruction at `code`, of the baseline that kernels are compiled for (no EVEX).
Decoded decode(const uint8_t* code, const uint8_t* end);

}  // namespace dav
