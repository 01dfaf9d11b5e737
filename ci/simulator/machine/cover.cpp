#include "cover.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "gm_allocations.h"
#include "machine.h"
#include "report.h"

namespace dav {
namespace {

constexpr size_t MOST_RANGES = 1 << 22;   // 200 MB
constexpr size_t MOST_CHECKED = 1 << 16;  // of a tensor whose holes are only a hint

// Ranges of bytes that do not touch, by start.
class Ranges {
public:
    void add(uint64_t start, uint64_t end) {
        auto next = ends_.upper_bound(start);
        if (next != ends_.begin() && std::prev(next)->second >= start) {
            --next;
            start = next->first;
            end = std::max(end, next->second);
        }
        while (next != ends_.end() && next->first <= end) {
            end = std::max(end, next->second);
            next = ends_.erase(next);
        }
        if (launch().checked && ends_.size() == MOST_CHECKED) full_ = true;
        if (full_) return;
        if (ends_.size() == MOST_RANGES)
            fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The copies lie in more than %zu places.",
                 MOST_RANGES);
        ends_.emplace_hint(next, start, end);
    }
    uint64_t bytes(uint64_t most) const {
        uint64_t sum = 0;
        for (const auto& [start, end] : ends_)
            if (start < most) sum += std::min(end, most) - start;
        return sum;
    }
    // Whether not all of them are known.
    bool full() const { return full_; }
    // The first byte that is in no range.
    uint64_t first_gap() const {
        return ends_.empty() || ends_.begin()->first > 0 ? 0 : ends_.begin()->second;
    }
    uint64_t digest(uint64_t most) const {
        uint64_t hash = 0xcbf29ce484222325;
        for (const auto& [start, end] : ends_)
            for (const uint64_t word : {start, std::min(end, most)})
                if (start < most) hash = (hash ^ word) * 0x100000001b3;
        return hash;
    }

private:
    std::map<uint64_t, uint64_t> ends_;
    bool full_ = false;
};

struct Cover {
    Ranges read, written;
};
std::map<uint64_t, Cover> covers;  // by the start of the allocation

}  // namespace

void note_cover(const Transfer& span) {
    const Allocation* one = find_allocation(span.start);
    if (one == nullptr) return;
    Cover& cover = covers[one->start];
    Ranges& ranges = span.write ? cover.written : cover.read;
    const uint64_t first = span.start - one->start;
    if (span.count == 1 || span.stride == span.length)
        return ranges.add(first, first + uint64_t(span.count) * span.length);
    for (uint64_t burst = 0; burst < span.count; ++burst)
        ranges.add(first + burst * span.stride, first + burst * span.stride + span.length);
}

Hole unread(const Allocation& one) {
    const Ranges& read = covers[one.start].read;
    if (read.full()) return {0, 0};
    return {read.first_gap(), one.bytes - read.bytes(one.bytes)};
}

std::string cover_json() {
    std::string text;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::INPUT && one.role != GmRole::OUTPUT) continue;
        const Cover& cover = covers[one.start];
        text += (text.empty() ? "[" : ", [") + json_string(one.name) + ", " +
                std::to_string(one.bytes) + ", " + std::to_string(cover.read.bytes(one.bytes)) +
                ", " + std::to_string(cover.written.bytes(one.bytes)) + ", \"" +
                std::to_string(cover.written.digest(one.bytes)) + "\"]";
    }
    return "[" + text + "]";
}

}  // namespace dav
