#include "bank.h"

#include <algorithm>

namespace dav {
namespace {

// The bank groups that a repeat starting at group `start` touches, and how often the busiest.
struct Groups {
    uint32_t mask = 0;
    uint32_t most = 0;
};

Groups groups_of(const BankOperand& operand) {
    uint8_t hits[BANK_GROUPS] = {};
    Groups groups;
    // Blocks with stride 0 are one access, broadcast.
    const uint32_t blocks = operand.block_stride == 0 ? 1 : operand.blocks;
    uint32_t group = operand.offset / BLOCK_BYTES % BANK_GROUPS;
    for (uint32_t block = 0; block < blocks; ++block) {
        groups.mask |= 1u << group;
        groups.most = std::max<uint32_t>(groups.most, ++hits[group]);
        group = (group + operand.block_stride) % BANK_GROUPS;
    }
    return groups;
}

uint32_t rotate(uint32_t mask, uint32_t by) {
    by %= BANK_GROUPS;
    return ((mask << by) | (mask >> (BANK_GROUPS - by))) & ((1u << BANK_GROUPS) - 1);
}

constexpr uint32_t BANK_BYTES = 1 << 16;
constexpr int MOST = 4;

uint32_t offset_at(const BankOperand& operand, uint32_t repeat) {
    return operand.offset + repeat * operand.repeat_stride * BLOCK_BYTES;
}

// Of one repeat.
BankConflicts repeat_conflicts(const BankOperand* operands, const Groups* groups, int count,
                               uint32_t repeat) {
    uint32_t reads_mask = 0;
    uint32_t reads = 0;
    uint32_t writes = 0;
    for (int i = 0; i < count; ++i) {
        if (operands[i].write) {
            writes = std::max(writes, groups[i].most);
            continue;
        }
        const uint32_t mask = rotate(groups[i].mask, repeat * operands[i].repeat_stride);
        reads = mask & reads_mask ? reads + groups[i].most : std::max(reads, groups[i].most);
        reads_mask |= mask;
    }
    const uint32_t turns = std::max(std::max(reads, writes), 1u) - 1;
    // Reads that take turns leave a cycle for the write.
    if (turns > 0) return {turns, 0};
    // The write of a repeat coincides with the reads of a later, odd-numbered one.
    for (int w = 0; w < count; ++w) {
        if (!operands[w].write) continue;
        const uint32_t written = rotate(groups[w].mask, repeat * operands[w].repeat_stride);
        const uint32_t bank = offset_at(operands[w], repeat) / BANK_BYTES;
        for (int r = 0; r < count; ++r) {
            if (operands[r].write || offset_at(operands[r], repeat) / BANK_BYTES != bank) continue;
            if (rotate(groups[r].mask, (repeat + 1) * operands[r].repeat_stride) & written)
                return {0, 1};
        }
    }
    return {};
}

// The first repeat after `repeat` in which some operand lies in another bank.
uint32_t bank_change(const BankOperand* operands, int count, uint32_t repeat, uint32_t repeats) {
    uint32_t change = repeats;
    for (int i = 0; i < count; ++i) {
        const uint32_t step = operands[i].repeat_stride * BLOCK_BYTES;
        if (step == 0) continue;
        const uint32_t left = BANK_BYTES - offset_at(operands[i], repeat) % BANK_BYTES;
        change = std::min(change, repeat + (left + step - 1) / step);
    }
    return change;
}

}  // namespace

BankConflicts bank_conflicts(const BankOperand* operands, int count, uint32_t repeats) {
    Groups groups[MOST];
    count = std::min(count, MOST);
    for (int i = 0; i < count; ++i) groups[i] = groups_of(operands[i]);
    BankConflicts total;
    for (uint32_t start = 0; start < repeats;) {
        const uint32_t end = bank_change(operands, count, start, repeats);
        // Group patterns repeat after as many repeats as there are groups at the latest.
        const uint32_t length = end - start;
        const uint32_t period = std::min(length, BANK_GROUPS);
        const uint32_t rest = length % period;
        for (uint32_t i = 0; i < period; ++i) {
            const BankConflicts one = repeat_conflicts(operands, groups, count, start + i);
            const uint32_t times = length / period + (i < rest);
            total.turns += times * one.turns;
            total.meetings += times * one.meetings;
        }
        start = end;
    }
    return total;
}

}  // namespace dav
