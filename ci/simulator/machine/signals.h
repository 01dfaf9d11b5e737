// Signals from cores to cores.
#pragma once

#include <cstdint>

namespace dav {

// A signal that `expected` cores give; answers its number in Launch::points.
uint32_t make_point(uint32_t expected, bool of_all);
// The running core gives it when `pipe` has come so far.
void send_signal(int pipe, uint32_t number, const char* mnemonic, const void* site);
// The running core's scalar unit waits for it.
void receive_signal(uint32_t number, const char* mnemonic, const void* site);
// Warns of cross-core flags that are set when all cores have ended.
void check_signals_at_end();

}  // namespace dav
