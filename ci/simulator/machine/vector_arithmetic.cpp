// Element-by-element arithmetic: two sources, one source, a source and a scalar.
//
// Assumptions where the documentation is silent
//   * half is computed in binary32 and rounded to nearest even once. For + - * / and sqrt that is
//     the correctly rounded half result.
//   * max and min propagate NaN.
//   * Multiply-add keeps the product unrounded (fused).
//   * Integer arithmetic wraps; CTRL[53] makes it saturate.
//   * exp, ln: what the host's libm gives, within 1 unit in the last place.
#pragma GCC optimize("O3")

#include <cmath>
#include <limits>

#include "vector_lanes.h"

using namespace dav;

namespace {

template <class T> constexpr bool IS_FLOATING = std::is_same_v<T, half> || std::is_same_v<T, float>;

template <class T> T wrapped(int64_t value) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}
template <class T> T clamped(int64_t value) {
    const int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return static_cast<T>(value < low ? low : value > high ? high : value);
}

struct Add {
    template <class T> auto operator()(T a, T b) const { return a + b; }
};
struct Subtract {
    template <class T> auto operator()(T a, T b) const { return a - b; }
};
struct Multiply {
    template <class T> auto operator()(T a, T b) const { return a * b; }
};
// The comparison is written so that it is false, and the first choice taken, when a is NaN.
struct Larger {
    template <class T> T operator()(T a, T b) const {
        const T chosen = a < b ? b : a;
        return b != b ? b : chosen;
    }
};
struct Smaller {
    template <class T> T operator()(T a, T b) const {
        const T chosen = b < a ? b : a;
        return b != b ? b : chosen;
    }
};

struct Relu {
    template <class T> T operator()(T a) const { return a < T(0) ? T(0) : a; }
};

// Operations whose low bits depend only on the low bits of their arguments.
template <class F>
constexpr bool MODULAR =
    std::is_same_v<F, Add> || std::is_same_v<F, Subtract> || std::is_same_v<F, Multiply>;

template <class F, class T> T integer_result(F f, T a, T b) {
    if constexpr (MODULAR<F>)
        return static_cast<T>(f(uint32_t(a), uint32_t(b)));
    else
        return wrapped<T>(f(int64_t(a), int64_t(b)));
}

template <class F, class T> void compute(F f, T* out, unsigned count, const T* a, const T* b) {
    if constexpr (IS_FLOATING<T>) {
        apply(f, out, count, a, b);
    } else if (control_bit(CTRL_SATURATE_INTEGER)) {
        apply([&](int64_t x, int64_t y) { return clamped<T>(f(x, y)); }, out, count, a, b);
    } else {
        apply([&](T x, T y) { return integer_result(f, x, y); }, out, count, a, b);
    }
}

template <class F, class T> void compute_scalar(F f, T* out, unsigned count, const T* a, T scalar) {
    if constexpr (IS_FLOATING<T>) {
        const float wide = static_cast<float>(scalar);
        apply([&](float x) { return f(x, wide); }, out, count, a);
    } else if (control_bit(CTRL_SATURATE_INTEGER)) {
        apply([&](int64_t x) { return clamped<T>(f(x, int64_t(scalar))); }, out, count, a);
    } else {
        apply([&](T x) { return integer_result(f, x, scalar); }, out, count, a);
    }
}

// The estimate that the reciprocal instructions return. The documentation only bounds it from
// below: errors exceed 1/1000 for half and 1/10000 for float. We keep 8 fraction bits (relative
// error up to 1/512), so that a kernel which needs more than an estimate fails here as well.
float estimate(float value) {
    if (!std::isfinite(value)) return value;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    constexpr unsigned DROPPED = 23 - 8;
    bits += (1u << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1);
    bits &= ~((1u << DROPPED) - 1);
    std::memcpy(&value, &bits, sizeof(bits));
    return value;
}

}  // namespace

// ---- two sources ----------------------------------------------------------------------------
#define BINARY(name, D, S, BODY)                                                                  \
    void name(D* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block,    \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat) { \
        elementwise(                                                                              \
            #name, dtype_name<D>(), DAV_SITE, repeat,                                             \
            [](D* out, unsigned count, const S* a, const S* b) BODY, dst,                         \
            { dst_block, dst_repeat }, Source<S>{src0, {src0_block, src0_repeat}},                \
            Source<S>{src1, {src1_block, src1_repeat}});                                          \
    }
#define BINARY_NUMBERS(name, F)                                       \
    BINARY(name, half, half, { compute(F, out, count, a, b); })       \
    BINARY(name, float, float, { compute(F, out, count, a, b); })     \
    BINARY(name, int16_t, int16_t, { compute(F, out, count, a, b); }) \
    BINARY(name, int32_t, int32_t, { compute(F, out, count, a, b); })
BINARY_NUMBERS(vadd, Add{})
BINARY_NUMBERS(vsub, Subtract{})
BINARY_NUMBERS(vmul, Multiply{})
BINARY_NUMBERS(vmax, Larger{})
BINARY_NUMBERS(vmin, Smaller{})

#define QUOTIENT                                                         \
    {                                                                    \
        apply([](float x, float y) { return x / y; }, out, count, a, b); \
    }
BINARY(vdiv, half, half, QUOTIENT)
BINARY(vdiv, float, float, QUOTIENT)

#define BITWISE(name, T, OPERATION) \
    BINARY(name, T, T,              \
           { apply([](T x, T y) { return static_cast<T>(x OPERATION y); }, out, count, a, b); })
BITWISE(vand, int16_t, &)
BITWISE(vand, uint16_t, &)
BITWISE(vor, int16_t, |)
BITWISE(vor, uint16_t, |)

#define THEN_RELU(name, T, F)                                     \
    BINARY(name, T, T, {                                          \
        alignas(32) T middle[MAX_LANES];                          \
        compute(F, middle, count, a, b);                          \
        apply(Relu{}, out, count, static_cast<const T*>(middle)); \
    })
THEN_RELU(vaddrelu, half, Add{})
THEN_RELU(vaddrelu, float, Add{})
THEN_RELU(vaddrelu, int16_t, Add{})
THEN_RELU(vsubrelu, half, Subtract{})
THEN_RELU(vsubrelu, float, Subtract{})
THEN_RELU(vsubrelu, int16_t, Subtract{})

// ---- multiply and add: the destination is the third source ------------------------------------
#define MULTIPLY_ADD(name, D, S, FUNCTION)                                                        \
    void name(D* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block,    \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat) { \
        elementwise(                                                                              \
            #name, dtype_name<D>(), DAV_SITE, repeat,                                             \
            [](D* out, unsigned count, const S* a, const S* b, const D* d) {                      \
                apply([](float x, float y, float z) { return FUNCTION; }, out, count, a, b, d);   \
            },                                                                                    \
            dst, {dst_block, dst_repeat}, Source<S>{src0, {src0_block, src0_repeat}},             \
            Source<S>{src1, {src1_block, src1_repeat}}, Source<D>{dst, {dst_block, dst_repeat}}); \
    }
MULTIPLY_ADD(vmla, half, half, std::fma(x, y, z))
MULTIPLY_ADD(vmla, float, float, std::fma(x, y, z))
MULTIPLY_ADD(vmla, float, half, std::fma(x, y, z))
MULTIPLY_ADD(vmadd, half, half, std::fma(x, z, y))
MULTIPLY_ADD(vmadd, float, float, std::fma(x, z, y))
MULTIPLY_ADD(vmaddrelu, half, half, Relu{}(std::fma(x, z, y)))
MULTIPLY_ADD(vmaddrelu, float, float, Relu{}(std::fma(x, z, y)))

// ---- one source -------------------------------------------------------------------------------
#define UNARY(name, T, FUNCTION)                                                      \
    void name(T* dst, T* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat) {                             \
        using Wider = std::conditional_t<IS_FLOATING<T>, float, T>;                   \
        elementwise(                                                                  \
            #name, dtype_name<T>(), DAV_SITE, repeat,                                 \
            [](T* out, unsigned count, const T* a) {                                  \
                apply([](Wider x) { return FUNCTION; }, out, count, a);               \
            },                                                                        \
            dst, {dst_block, dst_repeat}, Source<T>{src, {src_block, src_repeat}});   \
    }
#define UNARY_FLOATS(name, FUNCTION) \
    UNARY(name, half, FUNCTION)      \
    UNARY(name, float, FUNCTION)
UNARY_FLOATS(vabs, std::fabs(x))
UNARY_FLOATS(vrelu, Relu{}(x))
UNARY(vrelu, int32_t, Relu{}(x))
UNARY_FLOATS(vexp, std::exp(x))
UNARY_FLOATS(vln, std::log(x))
UNARY_FLOATS(vsqrt, std::sqrt(x))
UNARY_FLOATS(vrsqrt, estimate(1.0f / std::sqrt(x)))
UNARY_FLOATS(vrec, estimate(1.0f / x))
UNARY(vnot, int16_t, static_cast<int16_t>(~x))
UNARY(vnot, uint16_t, static_cast<uint16_t>(~x))

// ---- a source and a scalar ----------------------------------------------------------------------
#define SCALAR(name, T, BODY)                                                                   \
    void name(T* dst, T* src, T scalar, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat, bool, bool) {                           \
        elementwise(                                                                            \
            #name, dtype_name<T>(), DAV_SITE, repeat,                                           \
            [scalar](T* out, unsigned count, const T* a) BODY, dst, { dst_block, dst_repeat },  \
            Source<T>{src, {src_block, src_repeat}});                                           \
    }
#define SCALAR_NUMBERS(name, F)                                          \
    SCALAR(name, half, { compute_scalar(F, out, count, a, scalar); })    \
    SCALAR(name, float, { compute_scalar(F, out, count, a, scalar); })   \
    SCALAR(name, int16_t, { compute_scalar(F, out, count, a, scalar); }) \
    SCALAR(name, int32_t, { compute_scalar(F, out, count, a, scalar); })
SCALAR_NUMBERS(vadds, Add{})
SCALAR_NUMBERS(vmuls, Multiply{})
SCALAR_NUMBERS(vmaxs, Larger{})
SCALAR_NUMBERS(vmins, Smaller{})

#define LEAKY                                                                      \
    {                                                                              \
        const float slope = static_cast<float>(scalar);                            \
        apply([slope](float x) { return x >= 0 ? x : x * slope; }, out, count, a); \
    }
SCALAR(vlrelu, half, LEAKY)
SCALAR(vlrelu, float, LEAKY)

#define AXPY(D, S)                                                                               \
    void vaxpy(D* dst, S* src, S scalar, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
               uint16_t dst_repeat, uint16_t src_repeat, bool, bool) {                           \
        const float factor = static_cast<float>(scalar);                                         \
        elementwise(                                                                             \
            "vaxpy", dtype_name<D>(), DAV_SITE, repeat,                                          \
            [factor](D* out, unsigned count, const S* a, const D* d) {                           \
                apply([factor](float x, float y) { return std::fma(x, factor, y); }, out, count, \
                      a, d);                                                                     \
            },                                                                                   \
            dst, {dst_block, dst_repeat}, Source<S>{src, {src_block, src_repeat}},               \
            Source<D>{dst, {dst_block, dst_repeat}});                                            \
    }
AXPY(half, half)
AXPY(float, float)
AXPY(float, half)

// A left shift of a signed element keeps its sign bit and shifts the others; distances of the
// width or more leave 0 (or the sign).
template <class T> T shifted_left(T value, uint32_t distance) {
    using Bits = std::make_unsigned_t<T>;
    constexpr unsigned WIDTH = sizeof(T) * 8;
    const Bits moved = distance < WIDTH ? static_cast<Bits>(Bits(value) << distance) : Bits(0);
    if constexpr (std::is_signed_v<T>) {
        constexpr Bits SIGN = Bits(Bits(1) << (WIDTH - 1));
        return static_cast<T>((Bits(value) & SIGN) | (moved & Bits(~SIGN)));
    }
    return static_cast<T>(moved);
}

// Rounding adds the highest bit shifted out; the documentation gives it for signed elements only.
template <class T> T shifted_right(T value, uint32_t distance, bool round) {
    constexpr unsigned WIDTH = sizeof(T) * 8;
    if (distance >= WIDTH) return value < 0 && !round ? static_cast<T>(-1) : T(0);
    const T moved = static_cast<T>(value >> distance);
    if (!std::is_signed_v<T> || !round || distance == 0) return moved;
    return static_cast<T>(moved + (value >> (distance - 1) & 1));
}

#define LEFT(T)                                                                              \
    void vshl(T* dst, T* src, uint32_t distance, uint8_t repeat, uint16_t dst_block,         \
              uint16_t src_block, uint16_t dst_repeat, uint16_t src_repeat) {                \
        elementwise(                                                                         \
            "vshl", dtype_name<T>(), DAV_SITE, repeat,                                       \
            [distance](T* out, unsigned count, const T* a) {                                 \
                apply([distance](T x) { return shifted_left(x, distance); }, out, count, a); \
            },                                                                               \
            dst, {dst_block, dst_repeat}, Source<T>{src, {src_block, src_repeat}});          \
    }
#define RIGHT(T, N)                                                                               \
    void vshr(T* dst, T* src, N distance, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat, bool round) {                             \
        elementwise(                                                                              \
            "vshr", dtype_name<T>(), DAV_SITE, repeat,                                            \
            [distance, round](T* out, unsigned count, const T* a) {                               \
                apply([=](T x) { return shifted_right(x, uint32_t(distance), round); }, out,      \
                      count, a);                                                                  \
            },                                                                                    \
            dst, {dst_block, dst_repeat}, Source<T>{src, {src_block, src_repeat}});               \
    }
LEFT(uint16_t)
LEFT(int16_t)
LEFT(uint32_t)
LEFT(int32_t)
RIGHT(uint16_t, uint32_t)
RIGHT(int16_t, int32_t)
RIGHT(uint32_t, uint32_t)
RIGHT(int32_t, int32_t)
