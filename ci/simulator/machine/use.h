// What a kernel built to be checked puts into UB and never reads, and what it leaves unread of its
// inputs: a mask, a count, a gap or a stride that is too small shows there. Nothing of it is wrong
// by itself.
#pragma once

#include "machine.h"

namespace dav {

// Before blocks of UB get new values: what nothing has read of the old ones counts as unused. The
// reads of the instruction that writes must be marked already.
void note_overwritten(uint32_t first_block, uint32_t end_block, uint32_t record);

// The same of all of a core's UB, when its block has ended.
void note_left();

// Books what a copy or the scalar unit reads of an input, and where; warns of what lies behind it.
void note_input_read(const Transfer& span, const void* site);

// Warns of what was unused or unread, the largest parts first.
void warn_unused();

}  // namespace dav
