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
    // Instructions of a block.
    struct Length {
        uint16_t all = 0;
        uint16_t divisions = 0;  // of them, that divide or take a square root
    };
    // Of the block whose hook returns to `next`; at least 1 in all.
    Length at(const uint8_t* next) {
        Length& count = counts_[size_t(next - code_)];
        if (__builtin_expect(count.all == 0, 0)) count = count_from(next);
        return count;
    }

private:
    enum class Callee : uint8_t { OTHER, BLOCK_HOOK, ACCESS_HOOK };

    Length count_from(const uint8_t* next) const;
    Callee callee(const uint8_t* target) const;

    const uint8_t* code_ = nullptr;
    std::vector<Length> counts_;                  // by byte of the code; 0: not counted yet
    std::unordered_map<uint64_t, Callee> hooks_;  // by the slot that a stub jumps through
};

}  // namespace dav
