// Bank conflicts of the unified buffer: 16 bank groups of 3 banks, by address bits
// bank [17:16], row [15:9], bank group [8:5], byte [4:0].
#pragma once

#include <cstdint>

#include "core.h"

namespace dav {

// An operand as the conflict model sees it.
struct BankOperand {
    uint32_t offset;
    uint32_t block_stride;  // in 32-byte blocks
    uint32_t repeat_stride;
    uint8_t blocks;
    bool write;
    bool operator==(const BankOperand& other) const {
        return offset == other.offset && block_stride == other.block_stride &&
               repeat_stride == other.repeat_stride && blocks == other.blocks &&
               write == other.write;
    }
};

// Conflicts over all repeats of an instruction.
struct BankConflicts {
    uint32_t turns = 0;     // two reads (or two writes) in one bank group take turns: a cycle each
    uint32_t meetings = 0;  // a read and a write meet in one bank
};

BankConflicts bank_conflicts(const BankOperand* operands, int count, uint32_t repeats);

}  // namespace dav
