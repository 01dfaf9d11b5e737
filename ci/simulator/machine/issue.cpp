// Issuing a vector instruction: checks, hazards, bank conflicts, time.
#include <algorithm>
#include <cstring>
#include <utility>

#include "bank.h"
#include "hazard.h"
#include "machine.h"
#include "memory.h"
#include "use.h"
#include "vector_lanes.h"

namespace dav {
namespace {

constexpr int MOST_BANKS = 4;  // operands that bank conflicts are looked for in

// Calls visit(offset, bytes) for the contiguous ranges that an operand touches.
template <typename Visit>
void for_each_range(const VectorOperand& operand, uint32_t offset, uint32_t repeats, Visit visit) {
    if (operand.span != 0) {
        if (operand.repeat_bytes == 0) {
            visit(offset, operand.span);
        } else if (operand.repeat_bytes <= operand.span || operand.repeat_bytes <= BLOCK_BYTES) {
            visit(offset, (repeats - 1) * operand.repeat_bytes + operand.span);
        } else {
            for (uint32_t r = 0; r < repeats; ++r)
                visit(offset + r * operand.repeat_bytes, operand.span);
        }
        return;
    }
    const uint32_t tail = operand.tail_blocks != 0 ? operand.tail_blocks : operand.blocks;
    const uint32_t stride = operand.repeat_stride;
    const bool dense_blocks = operand.block_stride == 1 || operand.blocks == 1;
    if (dense_blocks && stride <= operand.blocks && stride != 0) {
        const uint32_t blocks = std::max((repeats - 1) * stride + tail,
                                         repeats > 1 ? (repeats - 2) * stride + operand.blocks : 0);
        visit(offset, blocks * BLOCK_BYTES);
        return;
    }
    const uint32_t different = stride == 0 ? 1 : repeats;
    for (uint32_t r = 0; r < different; ++r) {
        const uint32_t start = offset + r * stride * BLOCK_BYTES;
        const uint32_t blocks = r + 1 == repeats ? tail : operand.blocks;
        if (dense_blocks) {
            visit(start, blocks * BLOCK_BYTES);
        } else {
            const uint32_t apart = operand.block_stride == 0 ? 1 : blocks;
            for (uint32_t b = 0; b < apart; ++b)
                visit(start + b * operand.block_stride * BLOCK_BYTES, BLOCK_BYTES);
        }
    }
}

// Bytes from the operand's address to the end of what it touches.
uint64_t extent(const VectorOperand& operand, uint32_t repeats) {
    if (operand.span != 0) return uint64_t(repeats - 1) * operand.repeat_bytes + operand.span;
    const uint64_t blocks = operand.blocks == 0 ? 0 : operand.blocks - 1;
    const uint64_t tail =
        operand.tail_blocks != 0 ? operand.tail_blocks - 1u : static_cast<uint32_t>(blocks);
    const uint64_t last =
        uint64_t(repeats - 1) * operand.repeat_stride + tail * operand.block_stride + 1;
    const uint64_t before = repeats > 1 ? uint64_t(repeats - 2) * operand.repeat_stride +
                                              blocks * operand.block_stride + 1
                                        : 0;
    return std::max(last, before) * BLOCK_BYTES;
}

// The bytes from the operand's address on that one repeat touches, holes included.
uint64_t repeat_bytes(const VectorOperand& operand) {
    if (operand.span != 0) return operand.span;
    return (uint64_t(operand.blocks - 1) * operand.block_stride + 1) * BLOCK_BYTES;
}
uint64_t repeat_step(const VectorOperand& operand) {
    return operand.span != 0 ? operand.repeat_bytes : operand.repeat_stride * BLOCK_BYTES;
}

// Does a repeat write what a later one is to read? The later one reads the new value then.
bool overwrites_own_source(const VectorOperand& source, uint64_t from, const VectorOperand& target,
                           uint64_t to, uint32_t repeats) {
    const uint64_t step = repeat_step(source);
    const uint64_t other = repeat_step(target);
    if (from == to && step == other) return false;  // in place, each repeat its own
    for (uint32_t first = 0; first + 1 < repeats; ++first) {
        const uint64_t low = to + first * other;
        const uint64_t high = low + repeat_bytes(target);
        for (uint32_t later = first + 1; later < repeats; ++later) {
            const uint64_t start = from + later * step;
            if (start < high && low < start + repeat_bytes(source)) return true;
        }
    }
    return false;
}

// Does a repeat write a part of what it reads itself, of equal width? It must be all of it or none.
bool overlaps_in_part(const VectorOperand& source, uint64_t from, const VectorOperand& target,
                      uint64_t to, uint32_t repeats) {
    if (source.span != 0 || target.span != 0 || source.blocks != target.blocks) return false;
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint64_t low = to + r * repeat_step(target);
        const uint64_t start = from + r * repeat_step(source);
        if (start >= low + repeat_bytes(target) || low >= start + repeat_bytes(source)) continue;
        if (low == start && source.block_stride == target.block_stride) continue;
        const bool short_one = r + 1 == repeats && target.tail_blocks != 0;
        const uint32_t blocks = short_one ? target.tail_blocks : target.blocks;
        for (uint32_t written = 0; written < blocks; ++written) {
            const uint64_t place = low + uint64_t(written) * target.block_stride * BLOCK_BYTES;
            for (uint32_t read = 0; read < blocks; ++read) {
                const uint64_t other = start + uint64_t(read) * source.block_stride * BLOCK_BYTES;
                if (place == other && written == read) continue;
                if (place < other + BLOCK_BYTES && other < place + BLOCK_BYTES) return true;
            }
        }
    }
    return false;
}

// Which instruction adds onto the same place again and again in half precision: the rounding of
// each addition is lost. Said only where the result is wrong.
void note_half_sum(const char* mnemonic, const char* dtype, const VectorOperand* operands,
                   int count, uint32_t repeats, const void* site) {
    constexpr uint32_t MANY = 16;
    if (std::strcmp(dtype, "f16") != 0) return;
    uint32_t onto_one = 0;  // additions onto one element
    if (std::strcmp(mnemonic, "vcadd") == 0 || std::strcmp(mnemonic, "vcgadd") == 0) {
        onto_one = MANY;
    } else if (std::strcmp(mnemonic, "vadd") == 0 || std::strcmp(mnemonic, "vmla") == 0 ||
               std::strcmp(mnemonic, "vaxpy") == 0) {
        const VectorOperand *target = nullptr, *source = nullptr;
        for (int i = 0; i < count; ++i)
            if (operands[i].write) target = &operands[i];
        for (int i = 0; i < count; ++i)
            if (target && !operands[i].write && operands[i].address == target->address)
                source = &operands[i];
        if (source != nullptr) onto_one = target->repeat_stride == 0 ? repeats : 1;
    }
    if (onto_one == 0) return;
    if ((current->half_sums[site] += onto_one) < MANY) return;
    warn(site, "half_sum", mnemonic,
         "%s adds up many numbers in half precision: each addition rounds to 11 bits.", mnemonic);
}

// Those whose second source may be what an earlier repeat wrote, as the documentation says.
bool accumulates(const char* mnemonic, const char* dtype) {
    constexpr const char* NAMES[] = {"vadd", "vsub",     "vmul",    "vmax",
                                     "vmin", "vaddrelu", "vsubrelu"};
    constexpr const char* TYPES[] = {"f16", "s32", "f32"};
    const auto is = [](const char* word) {
        return [word](const char* other) { return std::strcmp(word, other) == 0; };
    };
    return std::any_of(std::begin(NAMES), std::end(NAMES), is(mnemonic)) &&
           std::any_of(std::begin(TYPES), std::end(TYPES), is(dtype));
}

// Those that the documentation gives no memory for both result and source, not in one repeat either
// (Gather, Gatherb, Brcb, MrgSort).
bool lies_apart(const char* mnemonic) {
    constexpr const char* NAMES[] = {"vgather", "vgatherb", "vbrcb", "vmrgsort4"};
    return std::any_of(std::begin(NAMES), std::end(NAMES),
                       [&](const char* name) { return std::strcmp(mnemonic, name) == 0; });
}

void check_own_source(const char* mnemonic, const char* dtype, const VectorOperand* operands,
                      const std::vector<uint32_t>& offsets, int count, uint32_t repeats,
                      const void* site) {
    constexpr int SECOND_SOURCE = 2;
    for (int target = 0; target < count; ++target) {
        if (!operands[target].write) continue;
        const uint64_t low = offsets[target];
        const uint64_t high = low + extent(operands[target], repeats);
        for (int source = 0; source < count; ++source) {
            const VectorOperand& read = operands[source];
            const uint64_t start = offsets[source];
            if (read.write || start >= high || low >= start + extent(read, repeats)) continue;
            const auto where = [&] {
                return describe_ub(static_cast<uint32_t>(std::max(low, start)), BLOCK_BYTES);
            };
            if (overlaps_in_part(read, start, operands[target], low, repeats))
                warn(site, "own_source", mnemonic,
                     "%s writes its result over a part of its source, at %s, within one repeat; "
                     "the two must be the same there or apart.",
                     mnemonic, where().c_str());
            if (source == SECOND_SOURCE &&
                (read.repeat_stride == 0 || operands[target].repeat_stride == 0) &&
                accumulates(mnemonic, dtype))
                continue;
            const bool overwritten =
                read.order == ReadOrder::REPEATS
                    ? overwrites_own_source(read, start, operands[target], low, repeats)
                    : read.order == ReadOrder::BEHIND_WRITES;
            if (!overwritten) {
                if (launch().checked && lies_apart(mnemonic))
                    warn(site, "not_apart", mnemonic,
                         "%s writes its result over its own source, at %s; the documentation wants "
                         "the two apart.",
                         mnemonic, where().c_str());
                continue;
            }
            warn(site, "own_source", mnemonic,
                 "%s writes its result over its own source, at %s, before later repeats have read "
                 "it: they read the result.",
                 mnemonic, where().c_str());
        }
    }
}

// Bank conflicts of the same operands over the same repeats are the same: a kernel's loop asks for
// few of them again and again.
BankConflicts known_conflicts(const BankOperand* operands, int count, uint32_t repeats) {
    struct Known {
        BankOperand operands[MOST_BANKS];
        int count = -1;
        uint32_t repeats = 0;
        BankConflicts conflicts;
    };
    constexpr uint32_t ENTRIES = 256;
    static Known known[ENTRIES];
    uint32_t hash = repeats * 31 + static_cast<uint32_t>(count);
    for (int i = 0; i < count; ++i) {
        const BankOperand& one = operands[i];
        hash = hash * 0x9e3779b1u + (one.offset >> 5) + one.repeat_stride * 977 +
               one.block_stride * 131 + one.blocks * 7 + one.write;
    }
    Known& entry = known[(hash ^ hash >> 15) % ENTRIES];
    bool same = entry.count == count && entry.repeats == repeats;
    for (int i = 0; same && i < count; ++i) same = operands[i] == entry.operands[i];
    if (same) return entry.conflicts;
    std::copy(operands, operands + count, entry.operands);
    entry.count = count;
    entry.repeats = repeats;
    entry.conflicts = bank_conflicts(operands, count, repeats);
    return entry.conflicts;
}

}  // namespace

void issue_vector(const char* mnemonic, const char* dtype, uint32_t repeats,
                  const VectorOperand* operands, int count, void* site, uint32_t extra_cycles) {
    const uint32_t ignored = std::exchange(ignored_repeats, 0);
    if (current->cube) return;  // its compiler leaves vector instructions out
    // Gathers have an operand for each range they touch.
    static std::vector<uint32_t> offsets;
    offsets.assign(static_cast<size_t>(count), 0);
    BankOperand banks[MOST_BANKS];
    int bank_count = 0;
    Hazards hazards(V, mnemonic, site);
    for (int i = 0; i < count && repeats > 0; ++i) {
        const VectorOperand& operand = operands[i];
        if (operand.span == 0 && operand.blocks == 0) continue;
        const uint64_t whole = extent(operand, repeats);
        check_extent(operand.address, whole, operand.write, mnemonic, site);
        offsets[i] =
            check_ub(operand.address, whole, operand.alignment, operand.write, mnemonic, site);
        if (launch().addresses) continue;
        LeftOver rest;
        for_each_range(operand, offsets[i], repeats, [&](uint32_t offset, uint32_t bytes) {
            if (operand.write) {
                hazards.write_ub(offset, bytes);
            } else {
                check_initialised(offset, bytes, mnemonic, site);
                hazards.read_ub(offset, bytes);
                if (launch().checked) rest.read(offset, bytes);
            }
        });
        rest.tell(mnemonic, site);
        if (operand.span == 0 && bank_count < MOST_BANKS)
            banks[bank_count++] = {offsets[i], operand.block_stride, operand.repeat_stride,
                                   operand.blocks, operand.write};
    }
    if (launch().addresses) return;
    hazards.settle();
    if (launch().checked) {
        note_half_sum(mnemonic, dtype, operands, count, repeats, site);
        if (ignored != 0)
            warn(site, "counter_mode", mnemonic,
                 "%s is given %u repeats in counter mode, where the mask says how many elements "
                 "there are.",
                 mnemonic, ignored);
    }
    if (repeats > 0 && count <= MOST_BANKS)
        check_own_source(mnemonic, dtype, operands, offsets, count, repeats, site);
    const BankConflicts conflicts = known_conflicts(banks, bank_count, repeats);
    Work work = Work::of(Formula::VECTOR, repeats);
    work.mnemonic = mnemonic;
    work.dtype = dtype;
    work.turns = conflicts.turns;
    work.meetings = conflicts.meetings;
    work.extra = extra_cycles;
    Record record = Record::compute(V, mnemonic, work);
    record.drain = hazards.drain();
    const uint32_t number = append(record, site);
    for (const bool write : {false, true})  // what is written over must count as read
        for (int i = 0; i < count && repeats > 0; ++i) {
            if (operands[i].write != write) continue;
            if (operands[i].span == 0 && operands[i].blocks == 0) continue;
            for_each_range(operands[i], offsets[i], repeats, [&](uint32_t offset, uint32_t bytes) {
                if (write)
                    mark_ub_write(offset, bytes, number);
                else
                    mark_ub_read(V, offset, bytes, number);
            });
        }
}

void read_vector_register(const char* name, void* site, bool waits) {
    if (current->cube) return;
    Hazards hazards(S, name, site);
    if (waits) {
        hazards.finish(V);
    } else {
        hazards.after(V, current->order.last[V]);
        hazards.settle();
    }
    issue_scalar(1);
}

}  // namespace dav
