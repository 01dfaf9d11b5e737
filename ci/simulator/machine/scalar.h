// The scalar unit: its clock (instructions counted by the compiler's coverage hook, memory
// accesses by the headers' hooks) and the traps of the host processor that it does not have.
#pragma once

struct link_map;

namespace dav {

// Charges the scalar code that ran since the last call to the running core.
void charge_scalar_code();
// Charges as many instructions of scalar code more.
void count_scalar(unsigned long long instructions);
// Instructions of scalar code run so far, over all cores.
unsigned long long scalar_instructions();
// From now on each basic block of the library of vector or cube cores counts as many instructions
// as it has (see block_length.h); one of code that nobody named counts as one.
void count_blocks_of(const link_map& library, bool cube);
// The running core's stack: it may grow down to `lowest` and ends before `end`.
void limit_stack(const void* lowest, const void* end);
// Where the running core's stack ends; null between cores.
extern const void* stack_end;
// Installs the handlers: integer division by zero continues with quotient 0; a wild access ends
// the launch as a memory error.
void install_traps();

}  // namespace dav
