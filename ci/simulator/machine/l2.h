// The L2 cache as the timing pass sees it: which parts of global memory it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "trace.h"

namespace dav {

// Lines are stamped with the number of fills at their last use; a line is held as long as fewer
// fills than the capacity came after. That is least-recently-used up to the order within a copy.
class L2Cache {
   public:
    L2Cache();
    // What a copy costs the memory behind the cache, in bytes; notes that the lines are held now.
    uint64_t access(const Transfer& transfer);

   private:
    uint64_t touch(uint64_t line, bool write);

    uint64_t first_address_;
    uint64_t capacity_;  // in lines
    uint64_t fills_ = 1;
    uint64_t dirty_fills_ = 0;
    std::vector<uint32_t> stamps_;
};

}  // namespace dav
