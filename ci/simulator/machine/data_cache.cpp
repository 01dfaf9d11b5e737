#include "data_cache.h"

#include <algorithm>

#include "gm.h"
#include "hazard.h"

namespace dav {
namespace {

CacheLine& slot(uint64_t address) {
    return current->scalar.cache_lines[address / CACHE_LINE_BYTES % CACHE_LINES];
}

Transfer place_of(const CacheLine& line) {
    constexpr auto BYTES = static_cast<uint32_t>(CACHE_LINE_BYTES);
    return {line.number * CACHE_LINE_BYTES, BYTES, BYTES, 1, false};
}

// The line goes to global memory, and with it what was written in it.
void write_back(CacheLine& line) {
    for (const uint32_t access : line.writers) --current->gm.shared[access].dirty;
    line.writers.clear();
    current->scalar.dirty_lines -= line.dirty;
    line.number = 0;
    line.dirty = line.stale = false;
}

}  // namespace

CacheLine* cached(uint64_t address) {
    CacheLine& line = slot(address);
    return line.number == address / CACHE_LINE_BYTES ? &line : nullptr;
}

void soil(CacheLine& line, size_t access) {
    const auto number = static_cast<uint32_t>(access);
    if (std::find(line.writers.rbegin(), line.writers.rend(), number) != line.writers.rend())
        return;
    line.writers.push_back(number);
    ++current->gm.shared[number].dirty;
}

bool through_cache(const Transfer& span, const char* name, const void* site) {
    CacheLine& line = slot(span.start);
    const bool hit = cached(span.start) != nullptr;
    if (!hit) {
        write_back(line);
        line.number = span.start / CACHE_LINE_BYTES;
        line.loaded = static_cast<uint32_t>(current->gm.segments.size());
        const Transfer place = place_of(line);
        current->scalar.cached_from = std::min(current->scalar.cached_from, place.start);
        current->scalar.cached_to = std::max(current->scalar.cached_to, place.start + place.length);
    }
    if (line.stale && !span.write)
        warn(
            site, "cache", name,
            "%s reads %s from a line that the data cache has held since before a copy of this "
            "core wrote there; DataCacheCleanAndInvalid before the read would fetch the new value.",
            name, describe_gm(span.start).c_str());
    if (span.write && !line.dirty) {
        line.dirty = true;
        ++current->scalar.dirty_lines;
    }
    return hit;
}

void past_cache(const Transfer& span, const char* mnemonic, const void* site) {
    const uint64_t end = span.start + uint64_t(span.count - 1) * span.stride + span.length;
    if (end <= current->scalar.cached_from || span.start >= current->scalar.cached_to) return;
    if (!span.write && current->scalar.dirty_lines == 0) return;
    for (CacheLine& line : current->scalar.cache_lines) {
        if (line.number == 0 || !(span.write || line.dirty)) continue;
        if (!overlap(place_of(line), span)) continue;
        if (span.write) {
            line.stale = true;
            continue;
        }
        warn(site, "cache", mnemonic,
             "%s reads %s, which the scalar unit wrote and no DataCacheCleanAndInvalid has written "
             "back from the data cache: it may find the old value.",
             mnemonic, describe_gm(place_of(line).start).c_str());
    }
}

void note_left_in_cache() {
    for (const CacheLine& line : current->scalar.cache_lines) {
        if (!line.dirty || line.writers.empty()) continue;
        const SharedAccess& last = current->gm.shared[line.writers.back()];
        warn(site_address(last.site), "cache_left", "",
             "Core %d ends with its store to %s in the data cache: no DataCacheCleanAndInvalid "
             "writes the line back, and only what the compiler puts behind the kernel does.",
             current->index, describe_gm(last.low).c_str());
        return;
    }
}

void empty_cache() {
    for (CacheLine& line : current->scalar.cache_lines) write_back(line);
}

void empty_cache_line(uint64_t address) {
    if (CacheLine* line = cached(address)) write_back(*line);
}

}  // namespace dav
