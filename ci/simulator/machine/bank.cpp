#include "bank.h"

#include <algorithm>

namespace dav {
namespace {

constexpr uint32_t GROUPS = 16;

// The bank groups that a repeat starting at group `start` touches, and how often the busiest.
struct Groups {
    uint32_t mask = 0;
    uint32_t most = 0;
};

Groups groups_of(const BankOperand& operand) {
    uint8_t hits[GROUPS] = {};
    Groups groups;
    // Blocks with stride 0 are one access, broadcast.
    const uint32_t blocks = operand.block_stride == 0 ? 1 : operand.blocks;
    uint32_t group = (operand.offset >> 5) % GROUPS;
    for (uint32_t block = 0; block < blocks; ++block) {
        groups.mask |= 1u << group;
        groups.most = std::max<uint32_t>(groups.most, ++hits[group]);
        group = (group + operand.block_stride) % GROUPS;
    }
    return groups;
}

uint32_t rotate(uint32_t mask, uint32_t by) {
    by %= GROUPS;
    return ((mask << by) | (mask >> (GROUPS - by))) & 0xffff;
}

uint32_t bank_of(uint32_t offset) { return offset >> 16; }

}  // namespace

float bank_conflict_cycles(const BankOperand* operands, int count, uint32_t repeats,
                           float read_write) {
    constexpr int MOST = 4;
    Groups groups[MOST];
    count = std::min(count, MOST);
    for (int i = 0; i < count; ++i) groups[i] = groups_of(operands[i]);
    // Group patterns repeat after 16 repeats at the latest.
    const uint32_t period = std::min<uint32_t>(repeats, GROUPS);
    float total = 0;
    float first_part = 0;  // of the repeats that are left over after whole periods
    const uint32_t rest = period == 0 ? 0 : repeats % period;
    for (uint32_t repeat = 0; repeat < period; ++repeat) {
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
        float extra = static_cast<float>(std::max(std::max(reads, writes), 1u) - 1);
        // The write of a repeat coincides with the reads of a later, odd-numbered one.
        bool meet = false;
        for (int w = 0; w < count && !meet; ++w) {
            if (!operands[w].write) continue;
            const uint32_t write_mask = rotate(groups[w].mask, repeat * operands[w].repeat_stride);
            for (int r = 0; r < count && !meet; ++r) {
                if (operands[r].write) continue;
                if (bank_of(operands[r].offset) != bank_of(operands[w].offset)) continue;
                const uint32_t read_mask =
                    rotate(groups[r].mask, (repeat + 1) * operands[r].repeat_stride);
                meet = (read_mask & write_mask) != 0;
            }
        }
        if (meet) extra += read_write;
        total += extra;
        if (repeat < rest) first_part += extra;
    }
    return period == 0 ? 0 : total * static_cast<float>(repeats / period) + first_part;
}

}  // namespace dav
