// Activations of one and of two tensors, and more functions element by element. As in
// elementary.h, each Operation gives its steps in single precision.
#pragma once

#include "elementary.h"
#include "index_pad.h"

namespace AscendC {

// ln(x + sqrt(x - 1) sqrt(x + 1)): below 1 no number, and no square that overflows.
ASC_OPERATION(AcoshOperation, 2) {
    float* root = scratch + pass;
    s.adds(scratch, src, -1.0f);
    s.sqrt(scratch, scratch);
    s.adds(root, src, 1.0f);
    s.sqrt(root, root);
    s.mul(scratch, scratch, root);
    s.add(scratch, scratch, src);
    s.ln(dst, scratch);
}
// sign(x) ln(|x| + sqrt(x^2 + 1)); near 0 the error is absolute, about 1e-7.
ASC_OPERATION(AsinhOperation, 2) {
    float* magnitude = scratch + pass;
    s.abs(magnitude, src);
    s.mul(scratch, src, src);
    s.adds(scratch, scratch, 1.0f);
    s.sqrt(scratch, scratch);
    s.add(scratch, scratch, magnitude);
    s.ln(scratch, scratch);
    s.sign(magnitude, src);
    s.mul(dst, scratch, magnitude);
}
// (ln(1 + x) - ln(1 - x)) / 2.
ASC_OPERATION(AtanhOperation, 2) {
    s.adds(scratch, src, 1.0f);
    s.ln(scratch, scratch);
    s.muls(scratch + pass, src, -1.0f);
    s.adds(scratch + pass, scratch + pass, 1.0f);
    s.ln(scratch + pass, scratch + pass);
    s.sub(scratch, scratch, scratch + pass);
    s.muls(dst, scratch, 0.5f);
}
// x / (1 + e^(-slope (x + cube x^3))).
__aicore__ inline void gate(const FloatSteps& s, float* dst, float* src, float* scratch,
                            float slope, float cube) {
    if (cube != 0.0f) {
        s.mul(scratch, src, src);
        s.muls(scratch, scratch, cube);
        s.adds(scratch, scratch, 1.0f);
        s.mul(scratch, scratch, src);
        s.muls(scratch, scratch, -slope);
    } else {
        s.muls(scratch, src, -slope);
    }
    s.exp(scratch, scratch);
    s.adds(scratch, scratch, 1.0f);
    s.div(dst, src, scratch);
}
constexpr float GELU_SLOPE = 1.5957691216057308f;  // 2 sqrt(2 / pi): tanh as a logistic function
constexpr float GELU_CUBE = 0.044715f;
constexpr float FAST_GELU_SLOPE = 1.702f;
ASC_OPERATION(GeluOperation, 1) { gate(s, dst, src, scratch, GELU_SLOPE, GELU_CUBE); }
ASC_OPERATION(FasterGeluOperation, 1) { gate(s, dst, src, scratch, FAST_GELU_SLOPE, 0.0f); }

// x (sign(x) (a (min(|x / sqrt 2|, b) - b)^2 + 0.5) + 0.5), a parabola for the error function; the
// sign is (x + 1e-12) / |x + 1e-12|.
ASC_OPERATION(FasterGeluV2Operation, 2) {
    constexpr float FALL = -0.1444f;
    constexpr float END = 1.769f;
    float* part = scratch + pass;
    s.muls(part, src, 0.70710678f);
    s.abs(part, part);
    s.mins(part, part, END);
    s.adds(part, part, -END);
    s.mul(part, part, part);
    s.muls(part, part, FALL);
    s.adds(part, part, 0.5f);
    s.adds(scratch, src, 1e-12f);
    s.mul(part, part, scratch);
    s.abs(scratch, scratch);
    s.div(part, part, scratch);
    s.adds(part, part, 0.5f);
    s.mul(dst, src, part);
}

ASC_FUNCTION(Acosh, AcoshOperation)
ASC_FUNCTION(Asinh, AsinhOperation)
ASC_FUNCTION(Atanh, AtanhOperation)

#define ASC_GELU(Name, Operation)                                                     \
    template <typename T, bool highPrecision = false, bool highPerformance = false>   \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const LocalTensor<uint8_t>& sharedTmpBuffer,          \
                                const uint32_t dataSize) {                            \
        run_elementwise<Operation>(dst, src, sharedTmpBuffer, dataSize);              \
    }                                                                                 \
    template <typename T, bool highPrecision = false, bool highPerformance = false>   \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const uint32_t dataSize) {                            \
        run_elementwise<Operation>(dst, src, scratch_for<Operation, T>(), dataSize);  \
    }
ASC_GELU(Gelu, GeluOperation)
ASC_GELU(FasterGelu, FasterGeluOperation)
ASC_GELU(FasterGeluV2, FasterGeluV2Operation)
#undef ASC_GELU

// x / (1 + e^(-beta x)), in the tensor's own type; dst must not be src.
template <typename T, bool isReuseSource = false>
__aicore__ inline void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                             uint32_t dataSize, const T scalarValue) {
    const int32_t count = int32_t(dataSize);
    Muls(dst, src, T(-float(scalarValue)), count);
    pipe_barrier(PIPE_V);
    Exp(dst, dst, count);
    pipe_barrier(PIPE_V);
    Adds(dst, dst, T(1.0f), count);
    pipe_barrier(PIPE_V);
    Div(dst, src, dst, count);
    pipe_barrier(PIPE_V);
}

// The lesser or the greater of each element and a scalar.
#define ASC_CLAMP(Name, instruction)                                                  \
    template <typename T, bool isReuseSource = false>                                 \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const LocalTensor<uint8_t>&, const T scalar,          \
                                const uint32_t calCount) {                            \
        instruction(dst, src, scalar, int32_t(calCount));                             \
        pipe_barrier(PIPE_V);                                                         \
    }                                                                                 \
    template <typename T, bool isReuseSource = false>                                 \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const T scalar, const uint32_t calCount) {            \
        instruction(dst, src, scalar, int32_t(calCount));                             \
        pipe_barrier(PIPE_V);                                                         \
    }
ASC_CLAMP(ClampMax, Mins)
ASC_CLAMP(ClampMin, Maxs)
#undef ASC_CLAMP

// ---- two sources
// Like run_elementwise; Operation::run(steps, dst, a, b, scratch, pass, factor).
template <class Operation, typename T>
__aicore__ inline void run_pairwise(const LocalTensor<T>& dst, const LocalTensor<T>& a,
                                    const LocalTensor<T>& b, const LocalTensor<uint8_t>& scratch,
                                    uint32_t count, float factor = 0.0f) {
    constexpr bool wide = IsSameType<T, float>::value;
    constexpr uint32_t buffers = Operation::SCRATCH + (wide ? 0 : 2);
    const uint32_t pass = elements_per_pass(scratch.GetSize(), buffers);
    float* space = reinterpret_cast<float*>(scratch.GetPhyAddr());
    for (uint32_t done = 0; done < count; done += pass) {
        const uint32_t elements = count - done < pass ? count - done : pass;
        const FloatSteps steps(elements);
        if constexpr (wide) {
            Operation::run(steps, dst.pointer() + done, a.pointer() + done, b.pointer() + done,
                           space, pass, factor);
        } else {
            float* first = space + Operation::SCRATCH * pass;
            float* second = first + pass;
            steps.widen(first, a.pointer() + done);
            steps.widen(second, b.pointer() + done);
            Operation::run(steps, first, first, second, space, pass, factor);
            steps.narrow(dst.pointer() + done, first, RoundMode::CAST_RINT);
        }
    }
}
#define ASC_PAIR_OPERATION(Name, buffers)                                                 \
    struct Name {                                                                         \
        static constexpr uint32_t SCRATCH = buffers;                                      \
        __aicore__ static void run(const FloatSteps& s, float* dst, float* a, float* b,   \
                                   float* scratch, uint32_t pass, float factor);          \
    };                                                                                    \
    __aicore__ inline void Name::run(const FloatSteps& s, float* dst, float* a, float* b, \
                                     float* scratch, [[maybe_unused]] uint32_t pass,      \
                                     [[maybe_unused]] float factor)
ASC_PAIR_OPERATION(GeGluOperation, 2) {
    gate(s, scratch + pass, b, scratch, GELU_SLOPE, GELU_CUBE);
    s.mul(dst, a, scratch + pass);
}
ASC_PAIR_OPERATION(SwiGluOperation, 2) {
    gate(s, scratch + pass, b, scratch, factor, 0.0f);
    s.mul(dst, a, scratch + pass);
}
ASC_PAIR_OPERATION(ReGluOperation, 1) {
    s.maxs(scratch, b, 0.0f);
    s.mul(dst, a, scratch);
}
// a - trunc(a / b) b.
ASC_PAIR_OPERATION(FmodOperation, 1) {
    s.div(scratch, a, b);
    s.trunc(scratch, scratch);
    s.mul(scratch, scratch, b);
    s.sub(dst, a, scratch);
}
#undef ASC_PAIR_OPERATION

#define ASC_PAIR_OF_COUNT(Name, Operation)                                                 \
    template <typename T, bool isReuseSource = false>                                      \
    __aicore__ inline void Name(                                                           \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {            \
        run_pairwise<Operation>(dst, src0, src1, sharedTmpBuffer, calCount);               \
    }                                                                                      \
    template <typename T, bool isReuseSource = false>                                      \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,     \
                                const LocalTensor<T>& src1, const uint32_t calCount) {     \
        run_pairwise<Operation>(dst, src0, src1, free_scratch(), calCount);                \
    }
#define ASC_PAIR(Name, Operation)                                                      \
    ASC_PAIR_OF_COUNT(Name, Operation)                                                 \
    template <typename T, bool isReuseSource = false>                                  \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, \
                                const LocalTensor<T>& src1,                            \
                                const LocalTensor<uint8_t>& sharedTmpBuffer) {         \
        run_pairwise<Operation>(dst, src0, src1, sharedTmpBuffer, src0.GetSize());     \
    }                                                                                  \
    template <typename T, bool isReuseSource = false>                                  \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, \
                                const LocalTensor<T>& src1) {                          \
        run_pairwise<Operation>(dst, src0, src1, free_scratch(), src0.GetSize());      \
    }
ASC_PAIR(GeGLU, GeGluOperation)
ASC_PAIR_OF_COUNT(ReGlu, ReGluOperation)
ASC_PAIR(Fmod, FmodOperation)
#undef ASC_PAIR
#undef ASC_PAIR_OF_COUNT
// src0 times swish(src1).
template <typename T, bool isReuseSource = false>
__aicore__ inline void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, const float& scalarValue,
                              const LocalTensor<uint8_t>& sharedTmpBuffer,
                              const uint32_t calCount) {
    run_pairwise<SwiGluOperation>(dst, src0, src1, sharedTmpBuffer, calCount, scalarValue);
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, const float& scalarValue,
                              const LocalTensor<uint8_t>& sharedTmpBuffer) {
    SwiGLU(dst, src0, src1, scalarValue, sharedTmpBuffer, src0.GetSize());
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, const float& scalarValue,
                              const uint32_t calCount) {
    SwiGLU(dst, src0, src1, scalarValue, free_scratch(), calCount);
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, const float& scalarValue) {
    SwiGLU(dst, src0, src1, scalarValue, free_scratch(), src0.GetSize());
}

// (a | b) & ~(a & b), for 16-bit integers; in passes that the scratch space allows.
template <typename T, bool isReuseSource = false>
__aicore__ inline void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                           const LocalTensor<T>& src1, const LocalTensor<uint8_t>& sharedTmpBuffer,
                           const uint32_t calCount) {
    static_assert(sizeof(T) == 2, "Xor takes 16-bit integers");
    const uint32_t pass = sharedTmpBuffer.GetSize() / sizeof(T) / 16 * 16;
    if (pass == 0) dav_fail("Xor was given less than 32 bytes of temporary space.");
    const LocalTensor<T> both = sharedTmpBuffer.template ReinterpretCast<T>();
    for (uint32_t done = 0; done < calCount; done += pass) {
        const int32_t count = int32_t(calCount - done < pass ? calCount - done : pass);
        And(both, src0[done], src1[done], count);
        Or(dst[done], src0[done], src1[done], count);
        pipe_barrier(PIPE_V);
        Not(both, both, count);
        pipe_barrier(PIPE_V);
        And(dst[done], dst[done], both, count);
        pipe_barrier(PIPE_V);
    }
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                           const LocalTensor<T>& src1,
                           const LocalTensor<uint8_t>& sharedTmpBuffer) {
    Xor(dst, src0, src1, sharedTmpBuffer, src0.GetSize());
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                           const LocalTensor<T>& src1, const uint32_t calCount) {
    Xor(dst, src0, src1, free_scratch(), calCount);
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                           const LocalTensor<T>& src1) {
    Xor(dst, src0, src1, free_scratch(), src0.GetSize());
}

// The newer name of ArithProgression.
template <typename T>
__aicore__ inline void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                              const int32_t count) {
    ArithProgression(dst, firstValue, diffValue, count);
}

}  // namespace AscendC
