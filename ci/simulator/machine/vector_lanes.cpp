#include "vector_lanes.h"

#include "machine.h"

namespace dav {

namespace {

unsigned highest(uint64_t low, uint64_t high) {
    if (high) return 128 - __builtin_clzll(high);
    return low ? 64 - __builtin_clzll(low) : 0;
}

Active from_bits(uint64_t low, uint64_t high) {
    Active active{low, high, 0, highest(low, high), false};
    if (active.reach == 0) return active;
    active.first = low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high);
    const unsigned ones = __builtin_popcountll(low) + __builtin_popcountll(high);
    active.prefix = ones == active.reach;
    return active;
}

uint64_t low_ones(unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

}  // namespace

uint32_t ignored_repeats = 0;

Active first_lanes(unsigned count) {
    return from_bits(low_ones(count), count > 64 ? low_ones(count - 64) : 0);
}

Lanes::Lanes(unsigned width, uint32_t repeat, bool masked) : repeats_(repeat), width_(width) {
    const MaskState& state = mask();
    if (launch().addresses) {  // there is nothing to compute with
        repeats_ = 0;
        body_ = tail_ = first_lanes(width);
        return;
    }
    ignored_repeats = state.counter && repeat > 1 ? repeat : 0;
    if (state.counter) {
        // The element count alone decides; the instruction's repeat field is ignored.
        const uint64_t count = state.low & 0xffffffffu;
        repeats_ = static_cast<uint32_t>((count + width - 1) / width);
        body_ = first_lanes(width);
        tail_ = count % width ? first_lanes(count % width) : body_;
        return;
    }
    const Active full = first_lanes(width);
    body_ = masked ? from_bits(state.low & full.low, state.high & full.high) : full;
    tail_ = body_;
}

VectorOperand Lanes::operand(const void* address, Step step, unsigned bits, bool write) const {
    const auto blocks = [&](unsigned lanes) {
        return static_cast<uint8_t>((lanes * bits + BLOCK_BYTES * 8 - 1) / (BLOCK_BYTES * 8));
    };
    VectorOperand operand{};
    // A mask that leaves out the lowest blocks does not touch them.
    const unsigned skipped = body_.first * bits / (BLOCK_BYTES * 8);
    operand.address =
        static_cast<const uint8_t*>(address) + size_t(skipped) * step.block * BLOCK_BYTES;
    operand.block_stride = step.block;
    operand.repeat_stride = step.repeat;
    const unsigned body = blocks((repeats_ > 1 ? body_ : tail_).reach);
    operand.blocks = static_cast<uint8_t>(body - skipped);
    if (repeats_ > 1 && tail_.reach != body_.reach) operand.tail_blocks = blocks(tail_.reach);
    operand.write = write;
    return operand;
}

VectorOperand Lanes::packed(const void* address, unsigned bits_per_lane, bool write) const {
    VectorOperand operand{};
    operand.address = address;
    operand.write = write;
    operand.span = repeats_ == 0 ? 0
                                 : ((repeats_ - 1) * width_ + tail_.reach) * bits_per_lane / 8 +
                                       (tail_.reach * bits_per_lane % 8 != 0);
    operand.repeat_bytes = 0;
    return operand;
}

const void* view_gathered(const uint8_t* base, Step step, unsigned bytes, void* scratch) {
    auto* room = static_cast<uint8_t*>(scratch);
    for (unsigned done = 0; done < bytes; done += BLOCK_BYTES) {
        std::memcpy(room + done, base, BLOCK_BYTES);
        base += size_t(step.block) * BLOCK_BYTES;
    }
    return scratch;
}

void store(uint8_t* base, Step step, uint32_t iteration, const void* lanes, const Active& active,
           unsigned bits) {
    base += size_t(iteration) * step.repeat * BLOCK_BYTES;
    const auto* values = static_cast<const uint8_t*>(lanes);
    if (active.prefix && step.block == 1) {
        std::memcpy(base, values, (active.reach * bits + 7) / 8);
        return;
    }
    const unsigned per_block = BLOCK_BYTES * 8 / bits;
    for (unsigned lane = 0; lane < active.reach; lane += per_block) {
        uint8_t* block = base + size_t(lane / per_block) * step.block * BLOCK_BYTES;
        const uint8_t* from = values + size_t(lane) * bits / 8;
        const unsigned end = lane + per_block < active.reach ? per_block : active.reach - lane;
        // Elements of half a byte are masked in pairs, as the documentation demands.
        const unsigned step_lanes = bits < 8 ? 8 / bits : 1;
        const unsigned bytes = bits < 8 ? 1 : bits / 8;
        for (unsigned i = 0; i < end; i += step_lanes)
            if (active[lane + i])
                std::memcpy(block + i / step_lanes * bytes, from + i / step_lanes * bytes, bytes);
    }
}

const void* ub_address_of_low_bits(uint32_t low) {
    const uint8_t* const base = ub_address(nullptr);
    const uint32_t distance = low - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(base));
    return distance < UB_BYTES || low >= UB_BYTES ? base + distance : base + low;
}

namespace {

void saturate_bits(uint16_t* values, unsigned count, uint16_t infinity) {
    for (unsigned i = 0; i < count; i++) {
        const uint16_t magnitude = values[i] & 0x7fff;
        if (magnitude == infinity)
            values[i] = static_cast<uint16_t>(values[i] - 1);
        else if (magnitude > infinity)
            values[i] = 0;
    }
}

}  // namespace

void saturate_if_asked(half* values, unsigned count) {
    if (!control_bit(CTRL_KEEP_INFINITY))
        saturate_bits(reinterpret_cast<uint16_t*>(values), count, 0x7c00);
}

void saturate_if_asked(bfloat16_t* values, unsigned count) {
    if (!control_bit(CTRL_KEEP_INFINITY)) saturate_bits(&values->bits, count, 0x7f80);
}

}  // namespace dav
