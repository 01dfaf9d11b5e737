// Global memory: the tensors of a launch with guard zones, and conflicts between cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace.h"

namespace dav {

struct Clock;

// What an allocation is, for messages and rules.
enum class GmRole : uint8_t { INPUT, OUTPUT, WORKSPACE, TILING, LIST };

// Allocates `bytes` at an address that is the same in every run, 512-byte aligned, filled with
// `fill`, with unmapped memory around. Rounded up to 32 bytes and padded by Launch::over_read.
uint8_t* allocate_gm(uint64_t bytes, GmRole role, const std::string& name, uint8_t fill);

// The same for what a file holds. Its pages are shared with it until they are written; what is
// written stays here. A file with fewer bytes ends the launch.
uint8_t* map_gm(const std::string& file, uint64_t bytes, GmRole role, const std::string& name);

// An output that lies in its file, so that nothing copies it there. True when the file was there,
// with initial values; else it starts with the launch's poison.
bool share_gm(const std::string& file, uint64_t bytes, const std::string& name, uint8_t*& memory);

// The allocation at this address is (also) an output: writing it is expected, but it has values
// already.
void mark_output(const uint8_t* address);
// True for an address in the tiling data.
bool in_tiling(uint64_t address);

// Constant tables that a kernel carries lie in global memory on the device. For a read of the
// kernel's own image the address that it has there; any other span's start as it is.
uint64_t table_address(const Transfer& span);

// Ends the launch as a memory error unless all bursts lie within one allocation; writing into the
// padding behind a tensor, or into an input, is a warning.
void check_gm(const Transfer& span, const char* mnemonic, const void* site);

// "0x… (12 bytes past the end of input 0)".
std::string describe_gm(uint64_t address);

// Books the running core's access for the comparison between cores. `changed`: a write that
// altered memory; `atomic`: combined with what was there.
void note_shared(const Transfer& span, bool changed, const void* site, bool atomic = false);

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

// What the inputs of the launch take of GM, in the order of the kernel's parameters.
struct GmRange {
    uint64_t start;
    uint64_t bytes;
};
std::vector<GmRange> gm_inputs();

// Where the allocations start, and how many bytes of addresses they span.
uint64_t gm_first_address();
uint64_t gm_extent();

// Compares the accesses of all cores; an unordered conflict ends the launch as a race.
void check_conflicts();

// An output without initial values of which no core has written `count` bytes from `first` on. A
// sum onto what nobody wrote is no value: atomic stores do not count.
struct Unwritten {
    std::string name;
    uint64_t first;
    uint64_t count;
    uint64_t bytes;  // of the output
};
// Both hold when all cores have ended.
std::vector<Unwritten> unwritten_outputs();
// Bytes of the workspace behind the last that a core has written.
uint64_t unused_workspace();

}  // namespace dav
