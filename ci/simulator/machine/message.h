// Messages between cores through global memory: one core writes a line of the workspace, another
// asks for that line again and again until it changes, with dcci before each look so that its data
// cache does not answer. The Matmul API of AscendC passes its work to the cube core this way.
//
// A core that asks again for lines that are as they were gives the other cores a turn. Who sees a
// line that another core wrote is ordered after that write, in the comparison of the cores'
// accesses and in time.
#pragma once

#include "trace.h"

namespace dav {

// Where the launch's workspace lies, the usual place of messages.
void set_workspace(uint64_t start, uint64_t bytes);

// The running core asks the scalar unit to forget the cache line at `address`.
void poll_line(uint64_t address, const void* site);

// The running core has just booked a write of this: a signal if it may be a message.
void note_message(const Transfer& span, const void* site);

// True for bytes of a line that cores have asked for so. Reading one is no race: whether the
// message is there is what the reader wants to know.
bool is_message_line(uint64_t address);

}  // namespace dav
