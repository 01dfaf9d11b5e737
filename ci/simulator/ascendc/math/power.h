// Power: tensor to a tensor, tensor to a scalar, scalar to a tensor.
#pragma once

#include "elementary.h"

namespace AscendC {

constexpr uint32_t POWER_SCRATCH = 5;

// dst = base^exponent, as e^(exponent ln|base|) with the sign of an odd integer exponent, and NaN
// for a negative base with an exponent that is no integer. base and exponent are overwritten.
__aicore__ inline void power_steps(const FloatSteps& s, float* dst, float* base, float* exponent,
                                   float* a, float* b, float* c) {
    // a: 1 where base < 0, else 0.
    s.sign(a, base);
    s.muls(a, a, -1.0f);
    s.maxs(a, a, 0.0f);
    // b: 1 where the exponent is odd (for integers), c: 1 where it is no integer.
    s.muls(b, exponent, 0.5f);
    s.floor(b, b);
    s.muls(b, b, -2.0f);
    s.add(b, b, exponent);
    s.floor(c, exponent);
    s.sub(c, exponent, c);
    s.sign(c, c);
    // The magnitude. ln 0 and ln of infinity stay finite so that a zero exponent gives 1.
    s.abs(base, base);
    s.ln(base, base);
    s.clamp(base, base, -1e30f, 1e30f);
    s.mul(base, base, exponent);
    s.exp(base, base);
    // Sign factor 1 - 2 a b, and (1 - a c) / (1 - a c), which is 1 or NaN.
    s.mul(b, b, a);
    s.muls(b, b, -2.0f);
    s.adds(b, b, 1.0f);
    s.mul(base, base, b);
    s.mul(c, c, a);
    s.muls(c, c, -1.0f);
    s.adds(c, c, 1.0f);
    s.div(c, c, c);
    s.mul(dst, base, c);
}

template <typename T>
__aicore__ inline void load_as_float(const FloatSteps& s, float* dst, T* src) {
    if constexpr (IsSameType<T, float>::value) {
        s.muls(dst, src, 1.0f);
    } else {
        s.widen(dst, src);
    }
}

template <typename T, bool base_is_scalar, bool exponent_is_scalar>
__aicore__ inline void run_power(const LocalTensor<T>& dst, T* base, T base_value, T* exponent,
                                 T exponent_value, const LocalTensor<uint8_t>& scratch,
                                 uint32_t count) {
    const uint32_t pass = elements_per_pass(scratch.GetSize(), POWER_SCRATCH);
    float* x = reinterpret_cast<float*>(scratch.GetPhyAddr());
    float* y = x + pass;
    for (uint32_t done = 0; done < count; done += pass) {
        const uint32_t elements = count - done < pass ? count - done : pass;
        const FloatSteps s(elements);
        if constexpr (base_is_scalar) {
            s.fill(x, float(base_value));
        } else {
            load_as_float(s, x, base + done);
        }
        if constexpr (exponent_is_scalar) {
            s.fill(y, float(exponent_value));
        } else {
            load_as_float(s, y, exponent + done);
        }
        if constexpr (IsSameType<T, float>::value) {
            power_steps(s, dst.pointer() + done, x, y, y + pass, y + 2 * pass, y + 3 * pass);
        } else {
            power_steps(s, x, x, y, y + pass, y + 2 * pass, y + 3 * pass);
            s.narrow(dst.pointer() + done, x, RoundMode::CAST_RINT);
        }
    }
}

// (base, exponent as parameters, which size counts, scalar flags, then pointer and value of each)
#define ASC_POWER(Base, Exponent, size, base_is_scalar, exponent_is_scalar, x, x0, y, y0)          \
    template <typename T, bool isReuseSource = false>                                              \
    __aicore__ inline void Power(const LocalTensor<T>& dst, Base, Exponent,                        \
                                 const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) { \
        run_power<T, base_is_scalar, exponent_is_scalar>(dst, x, x0, y, y0, sharedTmpBuffer,       \
                                                         calCount);                                \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    __aicore__ inline void Power(const LocalTensor<T>& dst, Base, Exponent,                        \
                                 const LocalTensor<uint8_t>& sharedTmpBuffer) {                    \
        run_power<T, base_is_scalar, exponent_is_scalar>(dst, x, x0, y, y0, sharedTmpBuffer,       \
                                                         size);                                    \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    __aicore__ inline void Power(const LocalTensor<T>& dst, Base, Exponent, uint32_t calCount) {   \
        run_power<T, base_is_scalar, exponent_is_scalar>(dst, x, x0, y, y0, free_scratch(),        \
                                                         calCount);                                \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    __aicore__ inline void Power(const LocalTensor<T>& dst, Base, Exponent) {                      \
        run_power<T, base_is_scalar, exponent_is_scalar>(dst, x, x0, y, y0, free_scratch(), size); \
    }
ASC_POWER(const LocalTensor<T>& base, const LocalTensor<T>& exponent, base.GetSize(), false, false,
          base.pointer(), T(0), exponent.pointer(), T(0))
ASC_POWER(const LocalTensor<T>& base, const T& exponent, base.GetSize(), false, true,
          base.pointer(), T(0), nullptr, exponent)
ASC_POWER(const T& base, const LocalTensor<T>& exponent, exponent.GetSize(), true, false, nullptr,
          base, exponent.pointer(), T(0))
#undef ASC_POWER

}  // namespace AscendC
