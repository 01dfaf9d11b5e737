#include "conflicts.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "data_cache.h"
#include "flags.h"
#include "gm_allocations.h"
#include "hazard.h"
#include "machine.h"
#include "message.h"

namespace dav {
namespace {

// Returns its place among the core's accesses.
size_t book_shared(const Transfer& span, bool changed, const void* site, bool atomic) {
    Core& core = *current;
    const uint32_t segment = static_cast<uint32_t>(core.gm.segments.size());
    const auto record = static_cast<uint32_t>(core.records.size() - 1);
    const int pipe = core.records[record].pipe;
    const bool scalar = pipe == S;
    CacheLine* line = scalar ? cached(span.start) : nullptr;
    const uint32_t loaded = line != nullptr ? std::min(line->loaded, segment) : segment;
    const bool dense = span.count == 1 || span.stride == span.length;
    const uint64_t low = span.start;
    const uint64_t high = span.end();
    // Streams come back to back: extend one of the latest ranges when this follows it.
    const size_t count = core.gm.shared.size();
    for (size_t back = 1; dense && back <= 8 && back <= count; ++back) {
        SharedAccess& other = core.gm.shared[count - back];
        if (other.segment != segment || other.span.count != 1 || other.atomic != atomic ||
            other.span.write != span.write || other.loaded != loaded ||
            (other.changed != changed && !scalar) ||  // what a scalar store does is seen later
            core.records[other.record].pipe != pipe)
            continue;
        if (other.low <= low && other.high >= high) {  // the same again
            other.record = record;
            if (line != nullptr && span.write) soil(*line, count - back);
            return count - back;
        }
        if (other.high != low) continue;
        // A burst's length has 32 bits.
        if (high - other.low > UINT32_MAX) continue;
        other.high = high;
        other.record = record;
        if (line != nullptr && span.write) soil(*line, count - back);
        other.span.length = static_cast<uint32_t>(high - other.low);
        other.span.stride = other.span.length;
        return count - back;
    }
    Transfer kept = span;
    if (dense) {
        kept.length = static_cast<uint32_t>(high - low);
        kept.stride = kept.length;
        kept.count = 1;
    }
    core.gm.shared.push_back(
        {low, high, kept, segment, site_offset(site), atomic, changed, scalar, 0, loaded, record});
    if (line != nullptr && span.write) soil(*line, count);
    return count;
}

}  // namespace

void note_shared(const Transfer& span, bool changed, const void* site, bool atomic) {
    if (launch().cores.size() == 1 && !span.write) return;
    book_shared(span, changed, site, atomic);
    if (span.write && changed) note_message(span, site);
}

void forget_reads(uint64_t start, uint64_t bytes) {
    std::vector<SharedAccess>& shared = current->gm.shared;
    const auto within = [&](const SharedAccess& one) {
        return one.scalar && !one.span.write && one.low >= start && one.high <= start + bytes;
    };
    while (!shared.empty() && within(shared.back())) shared.pop_back();
}

void note_scalar_store(const Transfer& span, const void* site) {
    const bool large = span.length > ScalarStore::MOST;
    ScalarStore& storing = current->gm.storing;
    storing.access = book_shared(span, large, site, false);
    if (!large) {
        storing.place = span.start;
        storing.bytes = span.length;
        std::memcpy(storing.before, reinterpret_cast<const void*>(span.start), span.length);
    }
    note_message(span, site);
}

void settle_scalar_store() {
    ScalarStore& storing = current->gm.storing;
    if (storing.bytes == 0) return;
    if (std::memcmp(storing.before, reinterpret_cast<const void*>(storing.place), storing.bytes) !=
        0)
        current->gm.shared[storing.access].changed = true;
    storing.bytes = 0;
}

void order_after(const std::vector<Release>& releases) {
    Core& core = *current;
    std::vector<uint32_t> known(launch().cores.size(), 0);
    if (!core.gm.segments.empty()) known = core.gm.segments.back();
    for (const Release& release : releases) {
        known[release.core] = std::max(known[release.core], release.number);
        // What the other core was ordered after when it released, this one is too.
        const std::vector<std::vector<uint32_t>>& theirs =
            launch().cores[release.core]->gm.segments;
        if (release.number < 2) continue;
        const std::vector<uint32_t>& inherited = theirs[release.number - 2];
        for (size_t i = 0; i < inherited.size(); ++i) known[i] = std::max(known[i], inherited[i]);
    }
    core.gm.segments.push_back(known);
    // Whoever waits for a signal of its own, or for the answer to it, finds done what that covers.
    const auto own = core.gm.released.find(known[core.index]);
    if (own != core.gm.released.end()) join(core.order.clocks[S], own->second);
}

uint32_t release_segment(const Clock* reached) {
    Core& core = *current;
    const auto ended = static_cast<uint32_t>(core.gm.segments.size());
    const size_t first = core.gm.unreleased;
    core.gm.unreleased = core.gm.shared.size();
    for (size_t i = first; reached != nullptr && i < core.gm.shared.size(); ++i) {
        SharedAccess& access = core.gm.shared[i];
        const int pipe = core.records[access.record].pipe;
        if (access.segment != ended || pipe == S || access.record <= reached->seen[pipe]) continue;
        access.segment = ended + 1;
        core.gm.unreleased = std::min(core.gm.unreleased, i);
    }
    std::vector<uint32_t> known(launch().cores.size(), 0);
    if (!core.gm.segments.empty()) known = core.gm.segments.back();
    core.gm.segments.push_back(known);
    const auto number = static_cast<uint32_t>(core.gm.segments.size());
    if (reached != nullptr) core.gm.released.emplace(number, *reached);
    return number;
}

namespace {

struct Burst {
    uint64_t low;
    uint64_t high;
    int core;
    const SharedAccess* access;
};

// Is `first` released before its core's other learns of it in `segment`?
bool before(const Burst& first, const Burst& second, uint32_t segment) {
    const Core& core = *launch().cores[second.core];
    return segment > 0 && core.gm.segments[segment - 1][first.core] > first.access->segment;
}

// Of two accesses in order: does the scalar unit's data cache stand between them?
void judge_cache(const Burst& first, const Burst& second) {
    if (!first.access->span.write) return;
    const std::string where = describe_gm(std::max(first.low, second.low));
    if (first.access->dirty > 0)
        warn(site_address(first.access->site), "cache", "unwritten",
             "Core %d writes %s with the scalar unit and core %d %s it later, but no "
             "DataCacheCleanAndInvalid writes the data cache's line back: the other core may find "
             "the old value.",
             first.core, where.c_str(), second.core,
             second.access->span.write ? "writes" : "reads");
    if (second.access->scalar && !second.access->span.write &&
        !before(first, second, second.access->loaded))
        warn(site_address(second.access->site), "cache", "outdated",
             "Core %d reads %s with the scalar unit from a line that its data cache has held since "
             "before core %d wrote there; DataCacheCleanAndInvalid before the read would fetch the "
             "new value.",
             second.core, where.c_str(), first.core);
}

// Two copies of one core: does the one end within what the other writes? The one that comes later
// wins. A copy all of whose bytes are written anew fills what is stored then, on purpose.
void judge_own(const Burst& a, const Burst& b) {
    if (!launch().checked || !a.access->span.write || !b.access->span.write) return;
    if (a.access->atomic || b.access->atomic || !a.access->changed || !b.access->changed) return;
    if (a.low >= b.low || a.high >= b.high || a.high <= b.low) return;
    const bool later = b.access->record > a.access->record;
    warn_pair(site_address((later ? b : a).access->site),
              site_address((later ? a : b).access->site), "rewritten", "",
              "Core %d writes %llu bytes at %s that an earlier copy of it ended or began with: "
              "which values they hold hangs on the order.",
              a.core, static_cast<unsigned long long>(a.high - b.low), describe_gm(b.low).c_str());
}

void judge(const Burst& a, const Burst& b) {
    if (a.core == b.core) return judge_own(a, b);
    if (!(a.access->span.write || b.access->span.write)) return;
    if (a.access->atomic && b.access->atomic) return;
    if (before(a, b, b.access->segment)) return judge_cache(a, b);
    if (before(b, a, a.access->segment)) return judge_cache(b, a);
    const void* site = site_address(b.access->site);
    const std::string where = describe_gm(std::max(a.low, b.low));
    if (a.access->span.write && b.access->span.write && !(a.access->changed && b.access->changed)) {
        warn(site, "overlap", "", "Cores %d and %d both write %s, with equal values.", a.core,
             b.core, where.c_str());
        return;
    }
    race(RaceKind::BETWEEN, site, site_address(a.access->site),
         "Core %d %s and core %d %s the same global memory, %s, and no SyncAll or cross-core flag "
         "orders the two.",
         a.core, a.access->span.write ? "writes" : "reads", b.core,
         b.access->span.write ? "writes" : "reads", where.c_str());
}

// All accesses to the allocations that somebody writes, by address; asked for when all cores have
// ended.
std::vector<Burst> collect_bursts() {
    std::vector<Burst> bursts;
    std::vector<bool> written(allocations.size(), false);
    const auto place = [](uint64_t address) {
        return static_cast<size_t>(find_allocation(address) - allocations.data());
    };
    for (const Core* core : launch().cores)
        for (const SharedAccess& access : core->gm.shared)
            if (access.span.write) written[place(access.low)] = true;
    for (const Core* core : launch().cores)
        for (const SharedAccess& access : core->gm.shared) {
            if (!written[place(access.low)]) continue;
            for (uint32_t burst = 0; burst < access.span.count; ++burst) {
                const uint64_t low = access.low + burst * access.span.stride;
                bursts.push_back({low, low + access.span.length, core->index, &access});
            }
        }
    std::sort(bursts.begin(), bursts.end(), [](const Burst& a, const Burst& b) {
        return a.low != b.low ? a.low < b.low : a.core < b.core;
    });
    return bursts;
}

const std::vector<Burst>& written_bursts() {
    static const std::vector<Burst> bursts = collect_bursts();
    return bursts;
}

// The bursts that start in an allocation.
template <typename Visit> void for_each_burst(const Allocation& one, Visit visit) {
    const std::vector<Burst>& bursts = written_bursts();
    auto burst = std::lower_bound(bursts.begin(), bursts.end(), one.start,
                                  [](const Burst& a, uint64_t low) { return a.low < low; });
    for (; burst != bursts.end() && burst->low < one.start + one.usable; ++burst) visit(*burst);
}

}  // namespace

void check_conflicts() {
    if (launch().cores.size() == 1 && !launch().checked) return;
    // Sweep: of the ranges that are still open, compare those of other cores.
    std::vector<Burst> open;
    for (const Burst& burst : written_bursts()) {
        open.erase(std::remove_if(open.begin(), open.end(),
                                  [&](const Burst& one) { return one.high <= burst.low; }),
                   open.end());
        for (const Burst& one : open) judge(one, burst);
        open.push_back(burst);
    }
}

void check_cache_lines() {
    if (launch().cores.size() == 1 || launch().cubes_per_block > 0) return;
    // The writes of each line that a scalar unit stores into, copies among them.
    std::map<uint64_t, std::vector<const Burst*>> lines;
    const auto first = [](const Burst& burst) { return burst.low / CACHE_LINE_BYTES; };
    const auto last = [](const Burst& burst) { return (burst.high - 1) / CACHE_LINE_BYTES; };
    for (const Burst& burst : written_bursts())
        for (uint64_t line = first(burst);
             burst.access->scalar && burst.access->span.write && line <= last(burst); ++line)
            lines[line].push_back(&burst);
    for (const Burst& burst : written_bursts()) {
        if (burst.access->scalar || !burst.access->span.write) continue;
        for (auto line = lines.lower_bound(first(burst));
             line != lines.end() && line->first <= last(burst); ++line)
            line->second.push_back(&burst);
    }
    const auto judge_line = [](const Burst& a, const Burst& b) {
        const bool meet = a.low < b.high && b.low < a.high;  // a race, or equal values
        if (a.core == b.core || meet || before(a, b, b.access->segment) ||
            before(b, a, a.access->segment))
            return;
        warn_pair(site_address(b.access->site), site_address(a.access->site), "shared_line", "",
                  "Core %d stores single elements and core %d %s within one cache line of 64 "
                  "bytes, at %s: the scalar unit writes the whole line back, and what the other "
                  "core wrote there is lost.",
                  a.core, b.core, b.access->scalar ? "does, too," : "copies",
                  describe_gm(b.low).c_str());
    };
    for (const auto& [line, writes] : lines)
        for (size_t i = 0; i < writes.size() && writes[i]->access->scalar; ++i)
            for (size_t j = i + 1; j < writes.size(); ++j) judge_line(*writes[i], *writes[j]);
}

std::vector<Unwritten> unwritten_outputs() {
    std::vector<Unwritten> found;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::OUTPUT || one.has_values) continue;
        Unwritten hole{one.name, 0, 0, one.bytes, 0, 0};
        uint64_t reached = 0;
        uint32_t writer = 0;  // of the bytes in front of `reached`
        const auto leave_out = [&](uint64_t to) {
            if (to <= reached) return;
            if (hole.count == 0) hole.first = reached, hole.next = writer;
            hole.count += to - reached;
        };
        for_each_burst(one, [&](const Burst& burst) {
            if (!burst.access->span.write) return;
            if (burst.access->atomic) {
                if (hole.added == 0) hole.added = burst.access->site;
                return;
            }
            leave_out(std::min(burst.low - one.start, one.bytes));
            if (hole.count != 0 && hole.next == 0) hole.next = burst.access->site;
            if (burst.high - one.start >= reached) writer = burst.access->site;
            reached = std::max(reached, burst.high - one.start);
        });
        leave_out(one.bytes);
        if (hole.count > 0) found.push_back(hole);
    }
    return found;
}

uint64_t tensor_write_bytes() {
    uint64_t bytes = 0;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::INPUT && one.role != GmRole::OUTPUT) continue;
        for_each_burst(one, [&](const Burst& burst) {
            if (burst.access->span.write) bytes += burst.high - burst.low;
        });
    }
    return bytes;
}

uint64_t unused_workspace() {
    uint64_t unused = 0;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::WORKSPACE) continue;
        uint64_t used = 0;
        for_each_burst(one, [&](const Burst& burst) {
            if (burst.access->span.write) used = std::max(used, burst.high - one.start);
        });
        unused += one.bytes - std::min(used, one.bytes);
    }
    return unused;
}

}  // namespace dav
