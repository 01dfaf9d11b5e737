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

// What an instruction reads of one operand: what was copied since, and with it the rest of an
// earlier copy, which an instruction has read already.
class LeftOver {
public:
    void read(uint32_t offset, uint32_t bytes);
    // Warns where both are there.
    void tell(const char* mnemonic, const void* site) const;

private:
    uint64_t fresh_ = 0;
    uint64_t old_ = 0;
};

// Books what a copy or the scalar unit reads of an input, and where; warns of what lies behind it.
void note_input_read(const Transfer& span, const void* site);

// Warns of what was unused or unread, the largest parts first.
void warn_unused();

}  // namespace dav
