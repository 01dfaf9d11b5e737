// How a vector instruction walks over its operands: iterations, active lanes, strides.
//
// Every element-by-element instruction is `elementwise(...)` with a loop body; the walk itself
// (mask in normal or counter mode, block and repeat strides, partial stores) is here once. Within
// an iteration all sources are read before the destination is written, and iterations run in
// order: an instruction that feeds its own result back (repeat stride 0) accumulates, as on the
// hardware.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core.h"
#include "eight_lanes.h"
#include "intrinsics_vector.h"

namespace dav {

constexpr unsigned MAX_LANES = 128;

template <class T> constexpr unsigned BITS = sizeof(T) * 8;
template <> inline constexpr unsigned BITS<int4b_t> = 4;

// Strides of an operand, in 32-byte blocks.
struct Step {
    uint32_t block;
    uint32_t repeat;
};

// The lanes that take part in one iteration.
struct Active {
    uint64_t low;    // lanes 0..63
    uint64_t high;   // lanes 64..127
    unsigned first;  // lowest active lane
    unsigned reach;  // highest active lane + 1; 0: none
    bool prefix;     // exactly the lanes 0..reach-1
    bool operator[](unsigned lane) const {
        return ((lane < 64 ? low >> lane : high >> (lane - 64)) & 1) != 0;
    }
};
Active first_lanes(unsigned count);

// Repeats that the instruction at hand is given although the mask counts its elements; else 0.
extern uint32_t ignored_repeats;

// Iterations of an instruction with `width` lanes each, from the mask register.
class Lanes {
public:
    // `masked` false: the instruction ignores the mask bits (but not counter mode).
    Lanes(unsigned width, uint32_t repeat, bool masked = true);
    uint32_t repeats() const { return repeats_; }
    bool empty() const { return repeats_ == 0 || body_.reach == 0; }
    const Active& at(uint32_t iteration) const { return iteration + 1 == repeats_ ? tail_ : body_; }
    // What an operand with elements of `bits` bits touches, for issue_vector.
    VectorOperand operand(const void* address, Step step, unsigned bits, bool write) const;
    // An operand whose iterations follow each other without gaps, such as selection bits.
    VectorOperand packed(const void* address, unsigned bits_per_lane, bool write) const;

private:
    uint32_t repeats_;
    unsigned width_;
    Active body_, tail_;
};

// `bytes` of iteration `iteration`, contiguous: in place when the blocks are adjacent, else copied
// to `scratch` (256 bytes).
const void* view_gathered(const uint8_t* base, Step step, unsigned bytes, void* scratch);
inline const void* view(const uint8_t* base, Step step, uint32_t iteration, unsigned bytes,
                        void* scratch) {
    base += size_t(iteration) * step.repeat * BLOCK_BYTES;
    return step.block == 1 ? base : view_gathered(base, step, bytes, scratch);
}
// Writes the active lanes of `lanes` (elements of `bits` bits) to the destination.
void store(uint8_t* base, Step step, uint32_t iteration, const void* lanes, const Active& active,
           unsigned bits);
// Replaces infinities by the largest finite value and NaN by 0, when CTRL[48] asks for it.
void saturate_if_asked(half* values, unsigned count);
void saturate_if_asked(bfloat16_t* values, unsigned count);

// The pointer whose low 32 bits an instruction or a register holds: a true offset into UB, or a
// host address cut to 32 bits.
const void* ub_address_of_low_bits(uint32_t low);

// Whether these bytes lie in UB, for instructions whose data decide what else they touch.
inline bool inside_ub(const void* address, size_t bytes) {
    return ub_offset(address) <= UB_BYTES && bytes <= UB_BYTES - ub_offset(address);
}

inline bool control_bit(int bit) { return (vector_state().control >> bit & 1) != 0; }

// Whole groups of eight are converted: a 32-byte block holds sixteen halves, so reading a few past
// `count` stays inside the block.
inline void widen(const half* in, float* out, unsigned count) {
    for (unsigned i = 0; i < count; i += 8) widen_eight(in + i, out + i);
}
inline void narrow(const float* in, half* out, unsigned count) {
    for (unsigned i = 0; i < count; i += 8) narrow_eight(in + i, out + i);
}

// A source as the arithmetic sees it: half and bfloat16 in binary32, the rest as they are.
template <class T> struct Wide {
    const T* values;
    Wide(const T* in, unsigned) : values(in) {}
};
template <> struct Wide<half> {
    float values[MAX_LANES];
    Wide(const half* in, unsigned count) { widen(in, values, count); }
};
template <> struct Wide<bfloat16_t> {
    float values[MAX_LANES];
    Wide(const bfloat16_t* in, unsigned count) {
        for (unsigned i = 0; i < count; i++) values[i] = in[i];
    }
};

// out[i] = f(sources[i]...), in binary32 for half, rounded to nearest even once at the end.
template <class D, class F, class... S>
inline void apply(F f, D* out, unsigned count, const S*... sources) {
    auto loop = [&](auto* result, const auto&... wide) {
        for (unsigned i = 0; i < count; i++) result[i] = f(wide.values[i]...);
    };
    if constexpr (std::is_same_v<D, half>) {
        float wide[MAX_LANES];
        loop(wide, Wide<S>(sources, count)...);
        narrow(wide, out, count);
    } else {
        loop(out, Wide<S>(sources, count)...);
    }
}

// Whether two operands of an iteration share no byte, or are the same bytes.
inline bool apart(const uint8_t* out, unsigned bytes, const void* source, unsigned source_bytes) {
    const auto* in = static_cast<const uint8_t*>(source);
    return out + bytes <= in || in + source_bytes <= out || (out == in && bytes == source_bytes);
}

template <class T> struct Source {
    T* address;
    Step step;
};

template <class... S> constexpr unsigned widest() {
    unsigned bits = 0;
    ((bits = BITS<S> > bits ? BITS<S> : bits), ...);
    return bits;
}

template <class Body, class D, size_t... I, class... S>
inline void invoke(Body& body, D* result, unsigned count, const void* const* in,
                   std::index_sequence<I...>, const S*...) {
    body(result, count, static_cast<const S*>(in[I])...);
}

// One instruction: for each iteration body(D* out, unsigned count, const S*... sources), then the
// active lanes are stored. A destination that is also read is passed as a source too.
template <class Body, class D, class... S>
void elementwise(const char* mnemonic, const char* dtype, void* site, uint32_t repeat, Body body,
                 D* dst, Step dst_step, Source<S>... sources) {
    const Lanes lanes(REPEAT_BYTES * 8 / widest<D, S...>(), repeat);
    const VectorOperand operands[] = {
        lanes.operand(dst, dst_step, BITS<D>, true),
        lanes.operand(sources.address, sources.step, BITS<S>, false)...};
    issue_vector(mnemonic, dtype, lanes.empty() ? 0 : lanes.repeats(), operands, 1 + sizeof...(S),
                 site);
    if (lanes.empty()) return;
    uint8_t* const out = ub_address(dst);
    constexpr size_t N = sizeof...(S);
    const uint8_t* const bases[N + 1] = {ub_address(sources.address)..., nullptr};
    const Step steps[N + 1] = {sources.step..., Step{}};
    constexpr unsigned bits[N + 1] = {BITS<S>..., 0};
    alignas(32) uint8_t scratch[N + 1][REPEAT_BYTES];
    alignas(32) D gathered[MAX_LANES];
    D* result = gathered;
    const void* in[N + 1] = {};
    const auto call = [&](unsigned count, auto indices) {
        invoke(body, result, count, in, indices, static_cast<const S*>(nullptr)...);
    };
    constexpr unsigned width = REPEAT_BYTES * 8 / widest<D, S...>();
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        uint8_t* const place = out + size_t(r) * dst_step.repeat * BLOCK_BYTES;
        // All lanes into adjacent blocks that no source shares in part: nothing to put together.
        bool direct = active.prefix && active.reach == width && dst_step.block == 1;
        for (size_t k = 0; k < N; k++) {
            in[k] = view(bases[k], steps[k], r, (active.reach * bits[k] + 7) / 8, scratch[k]);
            direct = direct && apart(place, width * BITS<D> / 8, in[k], width * bits[k] / 8);
        }
        result = direct ? reinterpret_cast<D*>(place) : gathered;
        call(active.reach, std::index_sequence_for<S...>{});
        if constexpr (std::is_same_v<D, half> || std::is_same_v<D, bfloat16_t>)
            saturate_if_asked(result, active.reach);
        if (!direct) store(out, dst_step, r, result, active, BITS<D>);
    }
}

template <class T> constexpr const char* dtype_name() {
    if constexpr (std::is_same_v<T, half>)
        return "f16";
    else if constexpr (std::is_same_v<T, bfloat16_t>)
        return "bf16";
    else if constexpr (std::is_same_v<T, float>)
        return "f32";
    else if constexpr (std::is_same_v<T, int8_t>)
        return "s8";
    else if constexpr (std::is_same_v<T, uint8_t>)
        return "u8";
    else if constexpr (std::is_same_v<T, int16_t>)
        return "s16";
    else if constexpr (std::is_same_v<T, uint16_t>)
        return "u16";
    else if constexpr (std::is_same_v<T, int32_t>)
        return "s32";
    else if constexpr (std::is_same_v<T, uint32_t>)
        return "u32";
    else
        return "s64";
}

}  // namespace dav

#define DAV_SITE __builtin_return_address(0)
