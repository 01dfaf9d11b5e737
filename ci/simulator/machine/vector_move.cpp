// Instructions that move elements unchanged: fill, copy, broadcast, gather, compaction.
//
// Assumptions where the documentation is silent
//   * vbrcb and vgatherb ignore the mask and counter mode: they move whole blocks.
//   * vcopy in counter mode takes the count in every iteration, and as many iterations as it says.
//   * vreducev2 in counter mode takes that many elements in every iteration (the documentation
//     says so for this generation), walking past the eighth block with the same block stride.
#include <algorithm>
#include <bitset>
#include <vector>

#include "memory.h"
#include "vector_lanes.h"

using namespace dav;

namespace {

VectorOperand span_of(const void* address, uint32_t span, uint32_t pitch, bool write) {
    VectorOperand operand{};
    operand.address = address;
    operand.span = span;
    operand.repeat_bytes = pitch;
    operand.write = write;
    return operand;
}

// The blocks of UB that scattered reads touch, as few contiguous operands as possible. Whether a
// read finds what an earlier repeat of the instruction writes is told to it repeat by repeat.
class ScatteredReads {
public:
    explicit ScatteredReads(const uint8_t* base) : base_(base), written_(UB_BYTES / WRITE_UNIT) {}
    void will_be_written(const uint8_t* address, uint32_t bytes) {
        const ptrdiff_t offset = address - base_;
        if (offset < 0 || offset + bytes > UB_BYTES) return;  // reported by the bounds check
        for (size_t at = offset / WRITE_UNIT; at < (offset + bytes) / WRITE_UNIT; at++)
            written_[at] = true;
    }
    void add(const uint8_t* address, uint32_t bytes) {
        const ptrdiff_t offset = address - base_;
        if (offset < 0 || offset + bytes > UB_BYTES) {
            outside_ = address;
            return;
        }
        const size_t last = (offset + bytes - 1) / BLOCK_BYTES;
        for (size_t b = offset / BLOCK_BYTES; b <= last; b++) touched_.set(b);
        for (size_t at = offset / WRITE_UNIT; at < (offset + bytes) / WRITE_UNIT; at++)
            behind_ = behind_ || written_[at];
    }
    void append_to(std::vector<VectorOperand>& operands) const {
        for (size_t b = 0; b < touched_.size(); b++) {
            if (!touched_[b]) continue;
            size_t end = b;
            while (end < touched_.size() && touched_[end]) end++;
            operands.push_back(span_of(base_ + b * BLOCK_BYTES,
                                       static_cast<uint32_t>((end - b) * BLOCK_BYTES), 0, false));
            operands.back().order = behind_ ? ReadOrder::BEHIND_WRITES : ReadOrder::BEFORE_WRITES;
            b = end;
        }
        // Reported by the bounds check of issue_vector.
        if (outside_) {
            operands.push_back(span_of(outside_, BLOCK_BYTES, 0, false));
            operands.back().alignment = 1;
        }
    }

private:
    const uint8_t* base_;
    static constexpr size_t WRITE_UNIT = 2;  // bytes of the smallest element
    const uint8_t* outside_ = nullptr;
    std::vector<bool> written_;
    bool behind_ = false;
    std::bitset<UB_BYTES / BLOCK_BYTES> touched_;
};

template <class T>
void broadcast_blocks(T* dst, T* src, Step dst_step, uint32_t repeat, void* site) {
    VectorOperand to{};
    to.address = dst;
    to.block_stride = dst_step.block;
    to.repeat_stride = dst_step.repeat;
    to.write = true;
    const VectorOperand operands[] = {to, span_of(src, 8 * sizeof(T), 8 * sizeof(T), false)};
    issue_vector("vbrcb", sizeof(T) == 2 ? "b16" : "b32", repeat, operands, 2, site);
    if (repeat == 0) return;
    uint8_t* const out = ub_address(dst);
    const uint8_t* const in = ub_address(src);
    for (uint32_t r = 0; r < repeat; r++) {
        T values[8];
        std::memcpy(values, in + size_t(r) * sizeof(values), sizeof(values));
        for (uint32_t b = 0; b < 8; b++) {
            T block[BLOCK_BYTES / sizeof(T)];
            std::fill(std::begin(block), std::end(block), values[b]);
            std::memcpy(out + (size_t(r) * dst_step.repeat + b * dst_step.block) * BLOCK_BYTES,
                        block, BLOCK_BYTES);
        }
    }
}

// Copy in counter mode: unlike anywhere else (the documentation says so), the mask is the count of
// each iteration, which walks past the eighth block with the same block stride, and the repeat
// field holds.
void copy_counted(uint8_t* dst, const uint8_t* src, uint32_t size, const char* dtype,
                  uint32_t repeat, Step to, Step from, void* site) {
    const uint64_t bytes = (mask().low & 0xffffffffu) * size;
    if (repeat == 0 || bytes == 0) return issue_vector("vcopy", dtype, 0, nullptr, 0, site);
    const auto blocks = static_cast<uint32_t>((bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    std::vector<VectorOperand> operands;
    for (uint32_t first = 0; first < blocks && first < UB_BYTES / BLOCK_BYTES; first += 8) {
        for (const bool write : {true, false}) {
            VectorOperand operand{};
            const Step& step = write ? to : from;
            operand.address = (write ? dst : src) + size_t(first) * step.block * BLOCK_BYTES;
            operand.block_stride = step.block;
            operand.repeat_stride = step.repeat;
            operand.blocks = static_cast<uint8_t>(std::min(8u, blocks - first));
            operand.write = write;
            operands.push_back(operand);
        }
    }
    // The blocks past the eighth take another cycle for every eight.
    const auto more = static_cast<uint32_t>(operands.size() / 2 - 1) * repeat;
    issue_vector("vcopy", dtype, repeat, operands.data(), static_cast<int>(operands.size()), site,
                 more);
    uint8_t* const out = ub_address(dst);
    const uint8_t* const in = ub_address(src);
    std::vector<uint8_t> moved(size_t(blocks) * BLOCK_BYTES);
    const auto each = [&](uint32_t r, const Step& step, auto visit) {
        for (uint32_t b = 0; b < blocks; ++b)
            visit((size_t(r) * step.repeat + size_t(b) * step.block) * BLOCK_BYTES,
                  &moved[size_t(b) * BLOCK_BYTES],
                  std::min<uint64_t>(BLOCK_BYTES, bytes - uint64_t(b) * BLOCK_BYTES));
    };
    for (uint32_t r = 0; r < repeat; ++r) {
        each(r, from, [&](size_t at, uint8_t* kept, size_t n) { std::memcpy(kept, in + at, n); });
        each(r, to, [&](size_t at, uint8_t* kept, size_t n) { std::memcpy(out + at, kept, n); });
    }
}

// An offset table is read before the instruction is issued: its contents decide what is touched.
// When it does not lie in UB, issuing it alone reports that.
const uint8_t* readable_table(const char* mnemonic, const char* dtype, const uint32_t* table,
                              uint32_t bytes, void* site) {
    const VectorOperand operand = span_of(table, bytes, 0, false);
    if (!inside_ub(table, bytes)) issue_vector(mnemonic, dtype, 1, &operand, 1, site);
    return ub_address(table);
}

template <class T>
void gather_elements(T* dst, uint32_t* offset, uint32_t base, uint32_t dst_repeat, uint32_t repeat,
                     void* site) {
    constexpr unsigned WIDTH = REPEAT_BYTES / sizeof(T);
    const char* const dtype = sizeof(T) == 2 ? "b16" : "b32";
    const Lanes lanes(WIDTH, repeat);
    if (lanes.empty()) return issue_vector("vgather", dtype, 0, nullptr, 0, site);
    const VectorOperand table_operand = lanes.packed(offset, 32, false);
    const uint8_t* const table = readable_table("vgather", dtype, offset, table_operand.span, site);
    const auto* const source = static_cast<const uint8_t*>(ub_address_of_low_bits(base));
    const Step step{1, dst_repeat};
    const auto each = [&](uint32_t r, auto visit) {
        const Active& active = lanes.at(r);
        for (unsigned i = 0; i < active.reach; i++) {
            if (!active[i]) continue;
            uint32_t distance;
            std::memcpy(&distance, table + (size_t(r) * WIDTH + i) * sizeof(distance),
                        sizeof(distance));
            visit(i, source + distance);
        }
    };
    ScatteredReads reads(ub_address(nullptr));
    const auto wrong = [&](const uint8_t* from) {
        warn(site, "limit", "vgather",
             "Gather takes offsets in bytes, and takes whole elements of %zu bytes; one lies at "
             "byte %lld of the source.",
             sizeof(T), static_cast<long long>(from - source));
    };
    bool whole = true;
    uint8_t* const out = ub_address(dst);
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        each(r, [&](unsigned, const uint8_t* from) {
            reads.add(from, sizeof(T));
            if (whole && (from - source) % sizeof(T) != 0) wrong(from), whole = false;
            check_reach(source, from, sizeof(T), false, "vgather", site);
        });
        each(r, [&](unsigned i, const uint8_t*) {
            reads.will_be_written(out + size_t(r) * dst_repeat * BLOCK_BYTES + i * sizeof(T),
                                  sizeof(T));
        });
    }
    std::vector<VectorOperand> operands{lanes.operand(dst, step, BITS<T>, true), table_operand};
    reads.append_to(operands);
    issue_vector("vgather", dtype, lanes.repeats(), operands.data(),
                 static_cast<int>(operands.size()), site);
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        T result[WIDTH] = {};
        each(r, [&](unsigned i, const uint8_t* from) { std::memcpy(&result[i], from, sizeof(T)); });
        store(out, step, r, result, lanes.at(r), BITS<T>);
    }
}

void gather_blocks(void* dst, const char* dtype, uint32_t* offset, uint32_t base, Step step,
                   uint32_t repeat, void* site) {
    if (step.block == 0) step.block = 1;  // as documented
    if (repeat == 0) return issue_vector("vgatherb", dtype, 0, nullptr, 0, site);
    const uint32_t table_bytes = repeat * 8 * sizeof(uint32_t);
    const uint8_t* const table = readable_table("vgatherb", dtype, offset, table_bytes, site);
    const auto* const source = static_cast<const uint8_t*>(ub_address_of_low_bits(base));
    const auto from = [&](uint32_t block) {
        uint32_t distance;
        std::memcpy(&distance, table + size_t(block) * sizeof(distance), sizeof(distance));
        return source + distance;
    };
    uint8_t* const out = ub_address(dst);
    const auto place = [&](uint32_t r, uint32_t b) {
        return (size_t(r) * step.repeat + b * step.block) * BLOCK_BYTES;
    };
    ScatteredReads reads(ub_address(nullptr));
    for (uint32_t b = 0; b < repeat * 8; b++) {
        reads.add(from(b), BLOCK_BYTES);
        if (ub_offset(from(b)) % BLOCK_BYTES != 0)
            warn(site, "limit", "vgatherb",
                 "Gatherb takes offsets in bytes, and takes whole blocks of 32; one lies at byte "
                 "%lld of the source.",
                 static_cast<long long>(from(b) - source));
        check_reach(source, from(b), BLOCK_BYTES, false, "vgatherb", site);
        if (b % 8 != 7) continue;
        for (uint32_t done = 0; done < 8; done++)
            reads.will_be_written(out + place(b / 8, done), BLOCK_BYTES);
    }
    VectorOperand to{};
    to.address = dst;
    to.block_stride = step.block;
    to.repeat_stride = step.repeat;
    to.write = true;
    std::vector<VectorOperand> operands{to, span_of(offset, table_bytes, 0, false)};
    reads.append_to(operands);
    issue_vector("vgatherb", dtype, repeat, operands.data(), static_cast<int>(operands.size()),
                 site);
    for (uint32_t r = 0; r < repeat; r++) {
        uint8_t blocks[8][BLOCK_BYTES];
        for (uint32_t b = 0; b < 8; b++) std::memcpy(blocks[b], from(r * 8 + b), BLOCK_BYTES);
        for (uint32_t b = 0; b < 8; b++) std::memcpy(out + place(r, b), blocks[b], BLOCK_BYTES);
    }
}

// Whether a fixed pattern (1..7) keeps element `i` of an iteration.
bool kept_by_pattern(uint8_t pattern, uint32_t i) {
    if (pattern <= 2) return i % 2 == pattern - 1u;
    if (pattern <= 6) return i % 4 == pattern - 3u;
    return true;
}

template <class T>
void compact(T* dst, T* src, T* selection, uint32_t repeat, uint32_t block_stride, uint8_t pattern,
             uint32_t repeat_stride, uint32_t selection_stride, void* site) {
    constexpr uint32_t PER_BLOCK = BLOCK_BYTES / sizeof(T);
    const char* const dtype = sizeof(T) == 2 ? "b16" : "b32";
    const uint32_t count =
        mask().counter ? static_cast<uint32_t>(mask().low) : uint32_t(REPEAT_BYTES / sizeof(T));
    if (count == 0) repeat = 0;
    vector_state().reduce_count = 0;
    if (repeat == 0) return issue_vector("vreducev2", dtype, 0, nullptr, 0, site);
    const uint32_t selection_bytes = (count + 7) / 8;
    const uint32_t blocks = (count + PER_BLOCK - 1) / PER_BLOCK;
    // Counter mode puts rows of any length into one repeat; the unit reads 8 blocks at a time.
    const uint32_t issued = std::max(repeat, (repeat * blocks + 7) / 8);
    const size_t reach =
        (size_t(repeat - 1) * repeat_stride + size_t(blocks - 1) * block_stride + 1) * BLOCK_BYTES;
    const size_t bits_reach = size_t(repeat - 1) * selection_stride * BLOCK_BYTES + selection_bytes;
    std::vector<VectorOperand> operands;
    const auto add_source = [&](uint32_t first, uint32_t step, uint32_t most, uint32_t tail) {
        VectorOperand part{};
        part.address = reinterpret_cast<const uint8_t*>(src) + size_t(first) * BLOCK_BYTES;
        part.block_stride = block_stride;
        part.repeat_stride = step;
        part.blocks = static_cast<uint8_t>(most);
        part.tail_blocks = static_cast<uint8_t>(tail);
        operands.push_back(part);
    };
    const auto add_bits = [&](uint32_t first, uint32_t step) {
        if (pattern == 0)
            operands.push_back(
                span_of(reinterpret_cast<uint8_t*>(selection) + size_t(first) * BLOCK_BYTES,
                        selection_bytes, step * BLOCK_BYTES, false));
    };
    if (issued == repeat) {
        add_source(0, repeat_stride, blocks, 0);
        add_bits(0, selection_stride);
    } else if (repeat == 1) {
        add_source(0, 8 * block_stride, 8, blocks % 8);
        add_bits(0, 0);
    } else {  // rows of other lengths than 8 blocks: each for itself, in groups that fit a count
        check_reach(src, src, reach, false, "vreducev2", site);
        if (pattern == 0) check_reach(selection, selection, bits_reach, false, "vreducev2", site);
        for (uint32_t row = 0; row < repeat; row++) {
            for (uint32_t first = 0; first < blocks; first += 128)
                add_source(row * repeat_stride + first * block_stride, 0,
                           std::min<uint32_t>(128, blocks - first), 0);
            add_bits(row * selection_stride, 0);
        }
    }
    // How many elements are kept is data, so the sources are read before the instruction is issued;
    // issuing it with the sources alone reports those that do not lie in UB.
    if (!inside_ub(src, reach) || (pattern == 0 && !inside_ub(selection, bits_reach)))
        issue_vector("vreducev2", dtype, issued, operands.data(), static_cast<int>(operands.size()),
                     site);
    const uint8_t* const in = ub_address(src);
    const uint8_t* const chosen = pattern == 0 ? ub_address(selection) : nullptr;
    const auto kept = [&](uint32_t r, uint32_t i) {
        if (pattern != 0) return kept_by_pattern(pattern, i);
        const uint8_t byte = chosen[size_t(r) * selection_stride * BLOCK_BYTES + i / 8];
        return (byte >> i % 8 & 1) != 0;
    };
    std::vector<T> result;
    for (uint32_t r = 0; r < repeat; r++)
        for (uint32_t i = 0; i < count; i++) {
            if (!kept(r, i)) continue;
            T value;
            std::memcpy(&value,
                        in +
                            (size_t(r) * repeat_stride + size_t(i / PER_BLOCK) * block_stride) *
                                BLOCK_BYTES +
                            i % PER_BLOCK * sizeof(T),
                        sizeof(T));
            result.push_back(value);
        }
    const auto bytes = static_cast<uint32_t>(result.size() * sizeof(T));
    if (bytes != 0) operands.push_back(span_of(dst, bytes, 0, true));
    issue_vector("vreducev2", dtype, issued, operands.data(), static_cast<int>(operands.size()),
                 site);
    if (bytes != 0) std::memcpy(ub_address(dst), result.data(), bytes);
    vector_state().reduce_count = result.size();
}

}  // namespace

namespace {

// Elements are moved as words of their size: saturation (CTRL[48]) is for results of arithmetic.
template <class T> using Word = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
template <class T> Word<T> word_of(T value) {
    Word<T> word;
    std::memcpy(&word, &value, sizeof(word));
    return word;
}

}  // namespace

#define DUPLICATE(T)                                                               \
    void vector_dup(T* dst, T value, uint8_t repeat, uint16_t dst_block, uint16_t, \
                    uint16_t dst_repeat, uint16_t) {                               \
        elementwise("vector_dup", dtype_name<T>(), DAV_SITE, repeat,               \
                    [word = word_of(value)](Word<T>* out, unsigned count) {        \
                        std::fill(out, out + count, word);                         \
                    },                                                             \
                    reinterpret_cast<Word<T>*>(dst), {dst_block, dst_repeat});     \
    }
#define COPY(T)                                                                                   \
    void vcopy(T* dst, T* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block,            \
               uint16_t dst_repeat, uint16_t src_repeat) {                                        \
        if (mask().counter)                                                                       \
            return copy_counted((uint8_t*)dst, (uint8_t*)src, sizeof(T), dtype_name<T>(), repeat, \
                                {dst_block, dst_repeat}, {src_block, src_repeat}, DAV_SITE);      \
        elementwise(                                                                              \
            "vcopy", dtype_name<T>(), DAV_SITE, repeat,                                           \
            [](Word<T>* out, unsigned count, const Word<T>* in) {                                 \
                std::memmove(out, in, count * sizeof(T));                                         \
            },                                                                                    \
            reinterpret_cast<Word<T>*>(dst), {dst_block, dst_repeat},                             \
            Source<Word<T>>{reinterpret_cast<Word<T>*>(src), {src_block, src_repeat}});           \
    }
#define BROADCAST(T)                                                                      \
    void vbrcb(T* dst, T* src, uint16_t dst_block, uint16_t dst_repeat, uint8_t repeat) { \
        broadcast_blocks(dst, src, {dst_block, dst_repeat}, repeat, DAV_SITE);            \
    }
#define MOVES(T) DUPLICATE(T) COPY(T) BROADCAST(T)
MOVES(half)
MOVES(bfloat16_t)
MOVES(int16_t)
MOVES(uint16_t)
MOVES(float)
MOVES(int32_t)
MOVES(uint32_t)

#define GATHER(T)                                                                                  \
    void vgather(T* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat, uint8_t repeat) {   \
        gather_elements(dst, offset, base, dst_repeat, repeat, DAV_SITE);                          \
    }                                                                                              \
    void vgatherb(T* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat, uint8_t dst_block, \
                  uint8_t repeat) {                                                                \
        gather_blocks(dst, sizeof(T) == 2 ? "b16" : "b32", offset, base, {dst_block, dst_repeat},  \
                      repeat, DAV_SITE);                                                           \
    }                                                                                              \
    void vreducev2(T* dst, T* src0, T* src1, uint16_t repeat, uint8_t src0_block, uint8_t pattern, \
                   uint16_t src0_repeat, uint8_t src1_repeat) {                                    \
        compact(dst, src0, src1, repeat, src0_block, pattern, src0_repeat, src1_repeat, DAV_SITE); \
    }
GATHER(uint16_t)
GATHER(uint32_t)
