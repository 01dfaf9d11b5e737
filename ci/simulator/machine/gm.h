// Global memory: the tensors of a launch with guard zones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace.h"

namespace dav {

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
// The tensor at this address has elements of so many bytes.
void set_element(const uint8_t* address, uint32_t bytes);
// True for an address in the tiling data.
bool in_tiling(uint64_t address);

// Constant tables that a kernel carries lie in global memory on the device. For a read of the
// kernel's own image the address that it has there; any other span's start as it is.
uint64_t table_address(const Transfer& span);

// An address of global memory with this bit is the same place past L2. The toolkit's headers add
// the offset that the runtime tells them (`g_opSystemRunCfg`), which is this one here.
constexpr uint64_t PAST_L2 = 1ull << 56;

// The place itself; where it was given past L2, the next copy goes past L2.
void* behind_l2(void* address);

// Ends the launch as a memory error unless all bursts lie within one allocation; writing into the
// padding behind a tensor, or into an input, is a warning.
void check_gm(const Transfer& span, const char* mnemonic, const void* site);

// Warns where the host side has asked for less of the workspace than its system part has, which
// `what` needs.
void check_system_workspace(const char* what, const void* site);

// Warns of a single element that is read from the padding behind an input or output.
void check_behind(const Transfer& one, const char* mnemonic, const void* site);

// "0x… (12 bytes past the end of input 0)".
std::string describe_gm(uint64_t address);

// What the inputs of the launch take of GM, in the order of the kernel's parameters.
struct GmRange {
    uint64_t start;
    uint64_t bytes;
};
std::vector<GmRange> gm_inputs();

// Where the allocations start, and how many bytes of addresses they span.
uint64_t gm_first_address();
uint64_t gm_extent();
// Whether an address lies in global memory, or so close that a copy may have strayed from it.
bool near_gm(uint64_t address);

}  // namespace dav
