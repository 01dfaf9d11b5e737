// The scalar unit: its clock (instructions counted by the compiler's coverage hook, memory
// accesses by the headers' hooks) and the traps of the host processor that it does not have.
#pragma once

#include <string>

namespace dav {

// Charges the scalar code that ran since the last call to the running core.
void charge_scalar_code();
// Charges as many instructions of scalar code more.
void count_scalar(unsigned long long instructions);
// Instructions of scalar code run so far, over all cores.
unsigned long long scalar_instructions();
// Reads how many instructions each basic block of the kernel loaded for vector or cube cores has
// (see block_table.py); without the file a block counts as one.
void load_block_lengths(const std::string& kernel, bool cube);
// The running core's stack may grow down to here; null: as far as it likes.
void limit_stack(const void* lowest);
// Installs the handlers: integer division by zero continues with quotient 0; a wild access ends
// the launch as a memory error.
void install_traps();

}  // namespace dav
