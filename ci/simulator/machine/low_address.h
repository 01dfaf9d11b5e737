// Loads and stores of the kernel's own code at true offsets of the unified buffer.
//
// Kernels built against real AscendC headers hold local addresses as the device does: as offsets
// from 0. Instructions of the machine translate them. A plain load or store of scalar code at such
// an address faults on this computer, where nothing is mapped at 0; the fault is answered by
// running the one instruction on the unified buffer of the core instead.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace dav {

// Whether this address, which a kernel's load or store names, is an offset into UB.
bool is_low(const void* address);
// The address that a library function gets for a kernel's pointer.
void* true_address(const void* pointer);
// Prepares for `redirect`. Called once, before the kernel is loaded.
void install_low_addresses();
// Answers a fault: true when the instruction goes on, on UB; false when the fault is another.
bool redirect(const void* address, ucontext_t* context);

}  // namespace dav
