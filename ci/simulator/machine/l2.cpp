#include "l2.h"

#include <cstdlib>

#include "core.h"
#include "gm.h"

namespace dav {
namespace {
constexpr uint64_t LINE = 128;  // sector that is fetched on its own
constexpr uint32_t PASSED = 1;  // stamp of a line that was touched and never held

template <typename Touch>
void each_line(const Transfer& transfer, uint64_t first_address, Touch touch) {
    for (uint32_t burst = 0; burst < transfer.count; ++burst) {
        const uint64_t start = transfer.start - first_address + burst * transfer.stride;
        const uint64_t last = (start + transfer.length - 1) / LINE;
        for (uint64_t line = start / LINE; line <= last; ++line) touch(line);
    }
}
}  // namespace

L2Cache::L2Cache(uint64_t bytes)
    : first_address_(gm_first_address()), capacity_(bytes / LINE), fills_(capacity_ + PASSED),
      before_(capacity_),
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
    if (stamp == 0) (write ? first_.written : first_.read) += LINE;
    ++fills_;
    dirty_fills_ += write;
    stamp = static_cast<uint32_t>(fills_);
    if (!write) cost.fetched += LINE;
    // Once the cache is full a fill puts another line out, and a written one goes to memory. What
    // was there before the launch goes first.
    const uint64_t own = fills_ - before_;
    cost.evicted += own > capacity_ ? LINE * dirty_fills_ / own
                                    : static_cast<uint64_t>(double(LINE) * others_written_);
}

void L2Cache::hold(uint64_t start, uint64_t bytes) {
    const uint64_t first = start - first_address_;
    for (uint64_t line = first / LINE; line <= (first + bytes - 1) / LINE; ++line)
        stamps_[line] = static_cast<uint32_t>(++fills_);
    before_ = fills_ - 1;
}

MemoryCost L2Cache::access(const Transfer& transfer) {
    MemoryCost cost;
    each_line(transfer, first_address_, [&](uint64_t line) { touch(line, transfer.write, cost); });
    return cost;
}

void L2Cache::pass_by(const Transfer& transfer) {
    each_line(transfer, first_address_, [&](uint64_t line) {
        if (stamps_[line] != 0) return;
        stamps_[line] = PASSED;
        (transfer.write ? first_.written : first_.read) += LINE;
    });
}

}  // namespace dav
