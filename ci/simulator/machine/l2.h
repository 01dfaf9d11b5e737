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

// Lines are stamped with the number of fills at their last use; a line is held as long as fewer
// fills than the capacity came after. That is least-recently-used up to the order within a copy.
class L2Cache {
public:
    explicit L2Cache(uint64_t bytes);
    // What a copy costs; notes that its lines are held now.
    MemoryCost access(const Transfer& transfer);
    // Part of global memory is held from before the launch, and has been written back.
    void hold(uint64_t start, uint64_t bytes);

private:
    void touch(uint64_t line, bool write, MemoryCost& cost);

    uint64_t first_address_;
    uint64_t capacity_;  // in lines
    uint64_t fills_ = 1;
    uint64_t before_ = 0;  // of them, before the launch
    uint64_t dirty_fills_ = 0;
    // Pages that nothing touches are never there.
    std::unique_ptr<uint32_t[], void (*)(void*)> stamps_;
};

}  // namespace dav
