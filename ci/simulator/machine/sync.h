// Flags at the end of a block, and signals between cores.
#pragma once

#include <cstdint>

namespace dav {

// Called when a block ends: a flag that is still set ends the launch as unbalanced, because it
// would let the next operator's first wait through.
void check_flags_at_end();

// A signal that `expected` cores give; answers its number in Launch::points.
uint32_t make_point(uint32_t expected, bool of_all);
// The running core gives it when `pipe` has come so far.
void send_signal(int pipe, uint32_t number, const char* mnemonic, const void* site);
// The running core's scalar unit waits for it.
void receive_signal(uint32_t number, const char* mnemonic, const void* site);

}  // namespace dav
