// Cores as fibers on one thread: each runs until it must wait for another core, in core order,
// so that a launch is deterministic.
#pragma once

#include "image.h"

namespace dav {

// Runs every core's entry(arguments) to its end. Ends the launch as a launch error
// when the remaining blocks wait for each other for ever.
void run_blocks(const KernelEntries& entries, unsigned char** arguments);

// Called on a fiber: gives other blocks a turn until `ready(argument)` holds. `what` says in
// words what is waited for ("SyncAll").
void wait_until(bool (*ready)(void*), void* argument, const char* what, const void* site);
// Called on a fiber: gives other blocks a turn, and comes back when `ready(argument)` holds or when
// nothing else can go on.
void give_turn(bool (*ready)(void*), void* argument, const void* site);
// The number of blocks that have ended.
int ended_blocks();
// True when `address` lies in the guard page below the running block's stack.
bool in_stack_guard(const void* address);

}  // namespace dav
