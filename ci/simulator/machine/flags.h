// Flags and barriers within a core.
#pragma once

#include "machine.h"

namespace dav {

// Ends the launch when a pipe of this number cannot hold a flag.
void check_pipe(int pipe, const char* mnemonic, const void* site);
// What pipe `pipe` has completed when it reaches this point, its own instructions included.
Clock reached(int pipe);
// `into` knows what `other` knows too.
void join(Clock& into, const Clock& other);
// The scalar unit waits for every pipe.
void barrier_all(const void* site, const char* mnemonic);
// Called when a block ends: a flag that is still set ends the launch as unbalanced, because it
// would let the next operator's first wait through.
void check_flags_at_end();

}  // namespace dav
