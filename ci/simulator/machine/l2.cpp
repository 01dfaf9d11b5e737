#include "l2.h"

#include <cstdlib>

#include "core.h"
#include "gm.h"

namespace dav {
namespace {
constexpr uint64_t LINE = 128;  // sector that is fetched on its own
}

L2Cache::L2Cache(uint64_t bytes)
    : first_address_(gm_first_address()), capacity_(bytes / LINE),
      stamps_(static_cast<uint32_t*>(std::calloc(gm_extent() / LINE + 1, sizeof(uint32_t))),
              std::free) {
    if (stamps_ == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory for the cache's lines.");
}

void L2Cache::touch(uint64_t line, bool write, MemoryCost& cost) {
    uint32_t& stamp = stamps_[line];
    const bool held = stamp != 0 && fills_ - stamp < capacity_;
    if (held) {
        stamp = static_cast<uint32_t>(fills_);
        return;
    }
    ++fills_;
    dirty_fills_ += write;
    stamp = static_cast<uint32_t>(fills_);
    if (!write) cost.fetched += LINE;
    // Once the cache is full a fill puts another line out, and a written one goes to memory. What
    // was there before the launch goes first, and costs nothing.
    const uint64_t own = fills_ - before_;
    if (own > capacity_) cost.evicted += LINE * dirty_fills_ / own;
}

void L2Cache::hold(uint64_t start, uint64_t bytes) {
    const uint64_t first = start - first_address_;
    for (uint64_t line = first / LINE; line <= (first + bytes - 1) / LINE; ++line)
        stamps_[line] = static_cast<uint32_t>(++fills_);
    before_ = fills_ - 1;
}

MemoryCost L2Cache::access(const Transfer& transfer) {
    MemoryCost cost;
    for (uint32_t burst = 0; burst < transfer.count; ++burst) {
        const uint64_t start = transfer.start - first_address_ + burst * transfer.stride;
        const uint64_t last = (start + transfer.length - 1) / LINE;
        for (uint64_t line = start / LINE; line <= last; ++line) touch(line, transfer.write, cost);
    }
    return cost;
}

}  // namespace dav
