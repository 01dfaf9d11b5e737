// The L2 cache as the timing pass sees it: which parts of global memory it holds.
#pragma once

#include <cstdint>
#include <memory>

#include "trace.h"

namespace dav {

// What a copy costs the memory behind the cache, in bytes.
struct MemoryCost {
    uint64_t fetched = 0;  // read now
    uint64_t evicted = 0;  // written lines that it pushes out, to be written back some time
};

// Bytes of lines that nothing had touched: what a launch with the same inputs and outputs moves at
// least, in which nothing is read again.
struct FirstTouched {
    uint64_t read = 0;
    uint64_t written = 0;
};

// Lines are stamped with the number of fills at their last use; a line is held as long as fewer
// fills than the capacity came after. That is least-recently-used up to the order within a copy.
class L2Cache {
public:
    explicit L2Cache(uint64_t bytes);
    // What a copy costs; notes that its lines are held now.
    MemoryCost access(const Transfer& transfer);
    // A copy that leaves the cache alone.
    void pass_by(const Transfer& transfer);
    const FirstTouched& first_touched() const { return first_; }
    // What was touched by now was touched before the launch.
    void begin() { first_ = {}; }
    // Part of global memory is held from before the launch, and has been written back.
    void hold(uint64_t start, uint64_t bytes);
    // That share of all other lines has been written by kernels before, and not yet been put out.
    void fill_with_written(double share) { others_written_ = share; }

private:
    void touch(uint64_t line, bool write, MemoryCost& cost);

    uint64_t first_address_;
    uint64_t capacity_;  // in lines
    uint64_t fills_;     // begins above the capacity, so that the stamp PASSED is never held
    uint64_t before_;    // of them, before the launch
    uint64_t dirty_fills_ = 0;
    double others_written_ = 0;
    FirstTouched first_;
    // Pages that nothing touches are never there.
    std::unique_ptr<uint32_t[], void (*)(void*)> stamps_;
};

}  // namespace dav
