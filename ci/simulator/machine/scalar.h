// The scalar unit: its clock (basic blocks counted by the compiler's coverage hook, memory
// accesses by the headers' hooks) and the traps of the host processor that it does not have.
#pragma once

namespace dav {

// Charges the basic blocks that ran since the last call to the running core.
void charge_basic_blocks();
// Basic blocks run so far, over all cores.
unsigned long long basic_blocks();
// Installs the handlers: integer division by zero continues with quotient 0; a wild access ends
// the launch as a memory error.
void install_traps();

}  // namespace dav
