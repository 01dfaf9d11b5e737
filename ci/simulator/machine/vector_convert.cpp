// Conversions between element types, plain and with a scale, and fused arithmetic + conversion.
//
// Assumptions where the documentation is silent
//   * NaN converts to integer 0.
//   * An overflowing float result is infinity in every rounding mode (saturated by CTRL[48] = 0).
//   * Dequantising a 16-bit integer rounds to nearest even.
//   * The fused conversions (vaddreluconv, vsubreluconv, vmulconv) round the arithmetic result to
//     the source type first, as the unfused pair of instructions would.
#pragma GCC optimize("O3")

#include "vector_lanes.h"
#include "vector_round.h"

using namespace dav;

namespace {

template <class D, class S, Round MODE> void convert(D* out, unsigned count, const S* in) {
    if constexpr (std::is_same_v<D, half> && std::is_same_v<S, float>) {
        if constexpr (MODE == Round::EVEN) {
            alignas(32) float room[MAX_LANES];
            std::memcpy(room, in, count * sizeof(float));
            narrow(room, out, count);
        } else {
            auto* bits = reinterpret_cast<uint16_t*>(out);
            for (unsigned i = 0; i < count; i++) bits[i] = to_half_bits<MODE>(in[i]);
        }
    } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int16_t>) {
        auto* bits = reinterpret_cast<uint16_t*>(out);
        for (unsigned i = 0; i < count; i++) bits[i] = to_half_bits<MODE>(float(in[i]));
    } else if constexpr (std::is_same_v<D, bfloat16_t>) {
        for (unsigned i = 0; i < count; i++) out[i].bits = to_bfloat16_bits<MODE>(in[i]);
    } else if constexpr (std::is_same_v<D, int4b_t>) {
        const bool truncate = control_bit(CTRL_TRUNCATE_CAST);
        alignas(32) float wide[MAX_LANES];
        widen(in, wide, count);
        const auto nibble = [&](unsigned i) {
            return to_integer<int8_t>(integral<MODE>(wide[i]), truncate, 4) & 0x0f;
        };
        for (unsigned i = 0; i < count; i += 2)
            out[i / 2].storage =
                static_cast<uint8_t>(nibble(i) | (i + 1 < count ? nibble(i + 1) : 0) << 4);
    } else if constexpr (std::is_same_v<S, int4b_t>) {
        for (unsigned i = 0; i < count; i++)
            out[i] = half(float(i % 2 ? in[i / 2].high() : in[i / 2].low()));
    } else if constexpr (std::is_integral_v<D> && !std::is_integral_v<S>) {
        const bool truncate = control_bit(CTRL_TRUNCATE_CAST);
        apply([=](float x) { return to_integer<D>(integral<MODE>(x), truncate); }, out, count, in);
    } else if constexpr (std::is_integral_v<D>) {
        using Limits = std::numeric_limits<D>;
        const bool truncate = control_bit(CTRL_TRUNCATE_CAST) || sizeof(D) > sizeof(S);
        for (unsigned i = 0; i < count; i++) {
            const int64_t x = in[i];
            out[i] = static_cast<D>(truncate                     ? x
                                    : x > int64_t(Limits::max()) ? int64_t(Limits::max())
                                    : x < int64_t(Limits::min()) ? int64_t(Limits::min())
                                                                 : x);
        }
    } else if constexpr (std::is_integral_v<S> && sizeof(S) >= 4) {
        for (unsigned i = 0; i < count; i++)
            out[i] = MODE == Round::EVEN ? static_cast<float>(in[i]) : to_float<MODE>(in[i]);
    } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, float>) {
        apply([](float x) { return integral<MODE>(x); }, out, count, in);
    } else {  // exact: narrower to wider
        apply([](auto x) { return static_cast<float>(x); }, out, count, in);
    }
}

}  // namespace

// 4-bit operands are passed without a type: the headers of each front door have their own.
template <typename T> using Passed = std::conditional_t<std::is_same_v<T, int4b_t>, void, T>;

#define CONVERT(name, suffix, D, S, MODE)                                                         \
    void vconv_##name##suffix(Passed<D>* dst, Passed<S>* src, uint8_t repeat, uint16_t dst_block, \
                              uint16_t src_block, uint16_t dst_repeat, uint16_t src_repeat) {     \
        elementwise("vconv", #name, DAV_SITE, repeat, convert<D, S, MODE>, static_cast<D*>(dst),  \
                    {dst_block, dst_repeat},                                                      \
                    Source<S>{static_cast<S*>(src), {src_block, src_repeat}});                    \
    }
#define CONVERT_ROUNDED(name, D, S)        \
    CONVERT(name, r, D, S, Round::EVEN)    \
    CONVERT(name, f, D, S, Round::FLOOR)   \
    CONVERT(name, c, D, S, Round::CEILING) \
    CONVERT(name, a, D, S, Round::AWAY)    \
    CONVERT(name, z, D, S, Round::ZERO)
CONVERT_ROUNDED(f322f32, float, float)
CONVERT_ROUNDED(f322s64, int64_t, float)
CONVERT_ROUNDED(f322s32, int32_t, float)
CONVERT_ROUNDED(f322s16, int16_t, float)
CONVERT_ROUNDED(f322f16, half, float)
CONVERT(f322f16, o, half, float, Round::ODD)
CONVERT(f322f16, , half, float, Round::EVEN)
CONVERT_ROUNDED(f322bf16, bfloat16_t, float)
CONVERT(bf162f32, , float, bfloat16_t, Round::EVEN)
CONVERT_ROUNDED(bf162s32, int32_t, bfloat16_t)
CONVERT(f162f32, , float, half, Round::EVEN)
CONVERT_ROUNDED(f162s32, int32_t, half)
CONVERT_ROUNDED(f162s16, int16_t, half)
CONVERT_ROUNDED(f162s8, int8_t, half)
CONVERT(f162s8, , int8_t, half, Round::EVEN)
CONVERT_ROUNDED(f162u8, uint8_t, half)
CONVERT(f162u8, , uint8_t, half, Round::EVEN)
CONVERT_ROUNDED(f162s4, int4b_t, half)
CONVERT(f162s4, , int4b_t, half, Round::EVEN)
CONVERT(s42f16, , half, int4b_t, Round::EVEN)
CONVERT(s82f16, , half, int8_t, Round::EVEN)
CONVERT(u82f16, , half, uint8_t, Round::EVEN)
CONVERT_ROUNDED(s162f16, half, int16_t)
CONVERT(s162f16, , half, int16_t, Round::EVEN)
CONVERT(s162f32, , float, int16_t, Round::EVEN)
CONVERT_ROUNDED(s322f32, float, int32_t)
CONVERT(s322f32, , float, int32_t, Round::EVEN)
CONVERT(s322s16, , int16_t, int32_t, Round::EVEN)
CONVERT(s322s64, , int64_t, int32_t, Round::EVEN)
CONVERT(s642s32, , int32_t, int64_t, Round::EVEN)
CONVERT_ROUNDED(s642f32, float, int64_t)

// ---- with a scale -------------------------------------------------------------------------------

// The scale register holds a half; scaling down first keeps large integers in range.
void vconv_deq(half* dst, int32_t* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block,
               uint16_t dst_repeat, uint16_t src_repeat) {
    half scale;
    std::memcpy(&scale, &vector_state().dequantize_scale, sizeof(scale));
    const float factor = static_cast<float>(scale);
    elementwise(
        "vconv", "deq", DAV_SITE, repeat,
        [factor](half* out, unsigned count, const int32_t* in) {
            apply([factor](int32_t x) { return float(x) * 0x1p-17f * factor * 0x1p17f; }, out,
                  count, in);
        },
        dst, {dst_block, dst_repeat}, Source<int32_t>{src, {src_block, src_repeat}});
}

namespace {

// One set of quantisation parameters, as set_deqscale packs it.
struct Quantisation {
    float scale;
    int offset;
    explicit Quantisation(uint64_t config) {
        // The unit reads the scale as 1 sign, 8 exponent and 10 fraction bits.
        const uint32_t bits = static_cast<uint32_t>(config) & ~0x1fffu;
        std::memcpy(&scale, &bits, sizeof(scale));
        offset = static_cast<int>(config >> 37 & 0x1ff);
        if (offset >= 0x100) offset -= 0x200;
    }
    template <class D> D operator()(float x) const {
        return to_integer<D>(integral<Round::EVEN>(x * scale + static_cast<float>(offset)), false);
    }
};

// The table of sixteen sets; the register holds its address in units of 32 bytes.
VectorOperand quantisation_table() {
    VectorOperand operand{};
    operand.address = reinterpret_cast<const void*>(vector_state().dequantize_scale * BLOCK_BYTES);
    operand.span = 16 * sizeof(uint64_t);
    return operand;
}

// Sixteen parameter sets (one a position in the block) or the same one sixteen times.
template <class D, bool PER_POSITION> void load_quantisation(Quantisation* sets, void* site) {
    const uint64_t config = vector_state().dequantize_scale;
    if constexpr (PER_POSITION) {
        const VectorOperand table = quantisation_table();
        if (!inside_ub(table.address, table.span))
            issue_vector("vconv", "vdeqs162b8", 1, &table, 1, site);
        uint64_t configs[16];
        std::memcpy(configs, ub_address(table.address), sizeof(configs));
        for (int i = 0; i < 16; i++) sets[i] = Quantisation(configs[i]);
    } else {
        for (int i = 0; i < 16; i++) sets[i] = Quantisation(config);
    }
}

// Sixteen 16-bit sources of a block become half a destination block; the other half is kept.
template <class D, bool PER_POSITION, class F>
void dequantise(const char* mnemonic, const char* dtype, void* site, uint32_t repeat, bool upper,
                F value, D* dst, Step dst_step, Source<int16_t> a, const Source<int16_t>* b) {
    Quantisation sets[16] = {Quantisation(0), Quantisation(0), Quantisation(0), Quantisation(0),
                             Quantisation(0), Quantisation(0), Quantisation(0), Quantisation(0),
                             Quantisation(0), Quantisation(0), Quantisation(0), Quantisation(0),
                             Quantisation(0), Quantisation(0), Quantisation(0), Quantisation(0)};
    load_quantisation<D, PER_POSITION>(sets, site);
    const Lanes lanes(MAX_LANES, repeat);
    VectorOperand operands[] = {
        lanes.operand(dst, dst_step, 16, true),
        lanes.operand(a.address, a.step, 16, false),
        lanes.operand(b ? b->address : a.address, b ? b->step : a.step, 16, false),
        {}};
    int count = b ? 3 : 2;
    if constexpr (PER_POSITION) operands[count++] = quantisation_table();
    issue_vector(mnemonic, dtype, lanes.empty() ? 0 : lanes.repeats(), operands, count, site);
    if (lanes.empty()) return;
    uint8_t* const out = ub_address(dst);
    const uint8_t* const base_a = ub_address(a.address);
    const uint8_t* const base_b = b ? ub_address(b->address) : base_a;
    alignas(32) uint8_t room_a[REPEAT_BYTES], room_b[REPEAT_BYTES];
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        const auto* x =
            static_cast<const int16_t*>(view(base_a, a.step, r, active.reach * 2, room_a));
        const auto* y = static_cast<const int16_t*>(
            view(base_b, b ? b->step : a.step, r, active.reach * 2, room_b));
        D result[MAX_LANES];
        for (unsigned i = 0; i < active.reach; i++)
            result[i] = sets[i % 16].operator()<D>(value(x[i], y[i]));
        for (unsigned i = 0; i < active.reach; i++)
            if (active[i])
                std::memcpy(out +
                                (size_t(r) * dst_step.repeat + size_t(i / 16) * dst_step.block) *
                                    BLOCK_BYTES +
                                (upper ? 16 : 0) + i % 16,
                            &result[i], 1);
    }
}

}  // namespace

#define DEQUANTISE_HALF(name, suffix, D, PER_POSITION, UPPER)                            \
    void name##suffix(D* dst, int16_t* src, uint8_t repeat, uint16_t dst_block,          \
                      uint16_t src_block, uint16_t dst_repeat, uint16_t src_repeat) {    \
        dequantise<D, PER_POSITION>(                                                     \
            "vconv", PER_POSITION ? "vdeqs162b8" : "deqs162b8", DAV_SITE, repeat, UPPER, \
            [](int16_t x, int16_t) { return float(x); }, dst, {dst_block, dst_repeat},   \
            {src, {src_block, src_repeat}}, nullptr);                                    \
    }
#define DEQUANTISE(name, PER_POSITION)                     \
    DEQUANTISE_HALF(name, l, int8_t, PER_POSITION, false)  \
    DEQUANTISE_HALF(name, h, int8_t, PER_POSITION, true)   \
    DEQUANTISE_HALF(name, l, uint8_t, PER_POSITION, false) \
    DEQUANTISE_HALF(name, h, uint8_t, PER_POSITION, true)
DEQUANTISE(vconv_deqs162b8, false)
DEQUANTISE(vconv_vdeqs162b8, true)

// ---- arithmetic and conversion in one
// ------------------------------------------------------------

#define ADD_RELU_DEQUANTISE(D)                                                                 \
    void vaddreluconv_vdeqs162b8(D* dst, int16_t* src0, int16_t* src1, uint8_t repeat,         \
                                 uint8_t dst_block, uint8_t src0_block, uint8_t src1_block,    \
                                 uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat, \
                                 bool upper_half) {                                            \
        const Source<int16_t> second{src1, {src1_block, src1_repeat}};                         \
        dequantise<D, true>(                                                                   \
            "vaddreluconv", "vdeqs162b8", DAV_SITE, repeat, upper_half,                        \
            [](int16_t x, int16_t y) {                                                         \
                const int16_t sum = static_cast<int16_t>(uint16_t(x) + uint16_t(y));           \
                return float(sum < 0 ? 0 : sum);                                               \
            },                                                                                 \
            dst, {dst_block, dst_repeat}, {src0, {src0_block, src0_repeat}}, &second);         \
    }
ADD_RELU_DEQUANTISE(int8_t)
ADD_RELU_DEQUANTISE(uint8_t)

#define FUSED_BODY(family, pair, D, S, RELU, OPERATION)                                     \
    elementwise(                                                                            \
        #family, #pair, DAV_SITE, repeat,                                                   \
        [](D* out, unsigned count, const S* a, const S* b) {                                \
            alignas(32) S middle[MAX_LANES];                                                \
            apply([](auto x, auto y) { return OPERATION; }, middle, count, a, b);           \
            apply([](auto x) { return RELU && x < 0 ? decltype(x)(0) : x; }, middle, count, \
                  static_cast<const S*>(middle));                                           \
            convert<D, S, Round::EVEN>(out, count, middle);                                 \
        },                                                                                  \
        dst, {dst_block, dst_repeat}, Source<S>{src0, {src0_block, src0_repeat}},           \
        Source<S>{src1, {src1_block, src1_repeat}});
#define FUSED_RELU(family, pair, D, S, OPERATION)                                     \
    void family##_##pair(D* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block, \
                         uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,  \
                         uint8_t src0_repeat, uint8_t src1_repeat, bool) {            \
        FUSED_BODY(family, pair, D, S, true, OPERATION)                               \
    }
FUSED_RELU(vaddreluconv, f162s8, int8_t, half, x + y)
FUSED_RELU(vaddreluconv, f322f16, half, float, x + y)
FUSED_RELU(vaddreluconv, s162s8, int8_t, int16_t, x + y)
FUSED_RELU(vsubreluconv, f162s8, int8_t, half, x - y)
FUSED_RELU(vsubreluconv, f322f16, half, float, x - y)
FUSED_RELU(vsubreluconv, s162s8, int8_t, int16_t, x - y)
#define FUSED_MULTIPLY(pair, D)                                                             \
    void vmulconv_##pair(D* dst, half* src0, half* src1, uint8_t repeat, uint8_t dst_block, \
                         uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,        \
                         uint8_t src0_repeat, uint8_t src1_repeat) {                        \
        FUSED_BODY(vmulconv, pair, D, half, false, x * y)                                   \
    }
FUSED_MULTIPLY(f162s8, int8_t)
FUSED_MULTIPLY(f162u8, uint8_t)
