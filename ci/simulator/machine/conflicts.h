// What cores do to the same global memory: in which order, and what none of them wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace.h"

namespace dav {

struct Clock;

// Books the running core's access for the comparison between cores. `changed`: a write that
// altered memory; `atomic`: combined with what was there.
void note_shared(const Transfer& span, bool changed, const void* site, bool atomic = false);
// Takes back the running core's latest accesses as far as they are scalar reads of nothing else.
void forget_reads(uint64_t start, uint64_t bytes);
// Books a store of the running core's scalar unit that is about to be done.
void note_scalar_store(const Transfer& span, const void* site);
// Sees what that store did: to be called before anything else is done to GM.
void settle_scalar_store();

// Ends the running core's segment: others may be ordered after it. Returns the release's number.
// With a clock, what that does not know to be complete belongs to the next segment.
uint32_t release_segment(const Clock* reached = nullptr);
// A release of a core: what it did before is done.
struct Release {
    int core;
    uint32_t number;
};
// Starts a new segment of the running core, ordered after these releases.
void order_after(const std::vector<Release>& releases);

// Compares the accesses of all cores; an unordered conflict is a race.
void check_conflicts();
// Warns of scalar stores of two cores within one line of their data caches.
void check_cache_lines();

// An output without initial values of which no core has written `count` bytes from `first` on. A
// sum onto what nobody wrote is no value: atomic stores do not count.
struct Unwritten {
    std::string name;
    uint64_t first;
    uint64_t count;
    uint64_t bytes;  // of the output
    uint32_t added;  // site of an atomic store onto the output, or 0
    uint32_t next;   // site of what wrote the bytes in front of the first, else those behind, or 0
};
// These hold when all cores have ended.
std::vector<Unwritten> unwritten_outputs();
// Bytes that all cores wrote into inputs and outputs, as often as they did.
uint64_t tensor_write_bytes();
// Bytes of the workspace behind the last that a core has written.
uint64_t unused_workspace();

}  // namespace dav
