// The building blocks of the mathematical functions: single-precision vector steps over a fixed
// number of elements, and the division of work by the temporary space at hand.
#pragma once

#include "../api/vector_binary.h"
#include "../api/vector_cast.h"

namespace AscendC {

// Float instructions over `elements`, in counter mode and each followed by a barrier of the vector
// pipe: every step reads what the one before it wrote.
class FloatSteps {
public:
    __aicore__ explicit FloatSteps(uint32_t elements) : mode_(elements) {}

#define ASC_STEP_BINARY(name, intrinsic)                         \
    __aicore__ void name(float* dst, float* a, float* b) const { \
        intrinsic(dst, a, b, 1, 1, 1, 1, 8, 8, 8);               \
        pipe_barrier(PIPE_V);                                    \
    }
    ASC_STEP_BINARY(add, vadd)
    ASC_STEP_BINARY(sub, vsub)
    ASC_STEP_BINARY(mul, vmul)
    ASC_STEP_BINARY(div, vdiv)
    ASC_STEP_BINARY(multiply_accumulate, vmla)  // dst += a * b
#undef ASC_STEP_BINARY
#define ASC_STEP_SCALAR(name, intrinsic)                            \
    __aicore__ void name(float* dst, float* a, float value) const { \
        intrinsic(dst, a, value, 1, 1, 1, 8, 8);                    \
        pipe_barrier(PIPE_V);                                       \
    }
    ASC_STEP_SCALAR(adds, vadds)
    ASC_STEP_SCALAR(muls, vmuls)
    ASC_STEP_SCALAR(maxs, vmaxs)
    ASC_STEP_SCALAR(mins, vmins)
    ASC_STEP_SCALAR(axpy, vaxpy)  // dst += a * value
#undef ASC_STEP_SCALAR
#define ASC_STEP_UNARY(name, intrinsic)                \
    __aicore__ void name(float* dst, float* a) const { \
        intrinsic(dst, a, 1, 1, 1, 8, 8);              \
        pipe_barrier(PIPE_V);                          \
    }
    ASC_STEP_UNARY(abs, vabs)
    ASC_STEP_UNARY(exp, vexp)
    ASC_STEP_UNARY(ln, vln)
    ASC_STEP_UNARY(sqrt, vsqrt)
    ASC_STEP_UNARY(rint, vconv_f322f32r)
    ASC_STEP_UNARY(floor, vconv_f322f32f)
    ASC_STEP_UNARY(ceil, vconv_f322f32c)
    ASC_STEP_UNARY(round, vconv_f322f32a)
    ASC_STEP_UNARY(trunc, vconv_f322f32z)
#undef ASC_STEP_UNARY
    __aicore__ void to_integer(int32_t* dst, float* a) const {
        vconv_f322s32z(dst, a, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    __aicore__ void to_float(float* dst, int32_t* a) const {
        vconv_s322f32(dst, a, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    __aicore__ void fill(float* dst, float value) const {
        vector_dup(dst, value, 1, 1, 1, 8, 0);
        pipe_barrier(PIPE_V);
    }
    // The elements as floats: where they lie, or their copy in `space`.
    template <typename T> __aicore__ float* wide(T* from, float* space) const {
        if constexpr (IsSameType<T, float>::value) {
            return from;
        } else {
            widen(space, from);
            return space;
        }
    }
    __aicore__ void clamp(float* dst, float* a, float low, float high) const {
        mins(dst, a, high);
        maxs(dst, dst, low);
    }
    // dst = c[0] + u * (c[1] + u * (… c[degree])), by Horner.
    template <int degree>
    __aicore__ void polynomial(float* dst, float* u, const float (&c)[degree + 1]) const {
        muls(dst, u, c[degree]);
        for (int i = degree - 1; i > 0; --i) {
            adds(dst, dst, c[i]);
            mul(dst, dst, u);
        }
        adds(dst, dst, c[0]);
    }
    // -1, 0 or 1; two multiplications by 2^64 bring every normal number beyond 1.
    __aicore__ void sign(float* dst, float* a) const {
        constexpr float HUGE_FACTOR = 18446744073709551616.0f;
        muls(dst, a, HUGE_FACTOR);
        clamp(dst, dst, -1.0f, 1.0f);
        muls(dst, dst, HUGE_FACTOR);
        clamp(dst, dst, -1.0f, 1.0f);
    }
    template <typename T> __aicore__ void widen(float* dst, T* src) const {
        UnaryRepeatParams params;
        params.srcRepStride = DEFAULT_REPEAT_STRIDE * sizeof(T) / sizeof(float);
        cast_intrinsic(dst, src, RoundMode::CAST_NONE, 1, params);
        pipe_barrier(PIPE_V);
    }
    template <typename T> __aicore__ void narrow(T* dst, float* src, RoundMode mode) const {
        UnaryRepeatParams params;
        params.dstRepStride = DEFAULT_REPEAT_STRIDE * sizeof(T) / sizeof(float);
        cast_intrinsic(dst, src, mode, 1, params);
        pipe_barrier(PIPE_V);
    }

private:
    CounterMode mode_;
};

// How many elements fit when `buffers` float buffers share the scratch space, in whole repeats
// when there is room for one.
__aicore__ inline uint32_t elements_per_pass(uint32_t scratch_bytes, uint32_t buffers) {
    const uint32_t elements = scratch_bytes / (buffers * uint32_t(sizeof(float)));
    if (elements >= 64) return elements / 64 * 64;
    if (elements < 16) {
        dav_fail(
            "A mathematical function was given too little temporary space: pass a larger "
            "sharedTmpBuffer, or let InitBuffer leave more of the unified buffer free.");
    }
    return elements / 16 * 16;  // halves take 32-byte blocks of 16
}

// Runs Operation::run(steps, dst, src, scratch buffers…) over all elements in passes that the
// scratch space allows; halves are computed in single precision. dst may be src.
template <class Operation, typename T>
__aicore__ inline void run_elementwise(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                       const LocalTensor<uint8_t>& scratch, uint32_t count) {
    constexpr bool wide = IsSameType<T, float>::value;
    constexpr uint32_t buffers = Operation::SCRATCH + (wide ? 0 : 2);
    constexpr uint32_t at_least = buffers > 0 ? buffers : 1;
    const uint32_t pass = buffers == 0 ? count : elements_per_pass(scratch.GetSize(), at_least);
    float* space = reinterpret_cast<float*>(scratch.GetPhyAddr());
    for (uint32_t done = 0; done < count; done += pass) {
        const uint32_t elements = count - done < pass ? count - done : pass;
        const FloatSteps steps(elements);
        if constexpr (wide) {
            Operation::run(steps, dst.pointer() + done, src.pointer() + done, space, pass);
        } else {
            float* in = space + Operation::SCRATCH * pass;
            float* out = in + pass;
            steps.widen(in, src.pointer() + done);
            Operation::run(steps, out, in, space, pass);
            steps.narrow(dst.pointer() + done, out, RoundMode::CAST_RINT);
        }
    }
}
// Scratch space for the forms without a buffer; none is taken when the operation needs none.
template <class Operation, typename T> __aicore__ inline LocalTensor<uint8_t> scratch_for() {
    if constexpr (Operation::SCRATCH > 0 || !IsSameType<T, float>::value) return free_scratch();
    return {};
}

// Begins an Operation for it, which works in so many buffers of `pass` elements each.
#define ASC_OPERATION(Name, buffers)                                                            \
    struct Name {                                                                               \
        static constexpr uint32_t SCRATCH = buffers;                                            \
        __aicore__ static void run(const FloatSteps& s, float* dst, float* src, float* scratch, \
                                   uint32_t pass);                                              \
    };                                                                                          \
    __aicore__ inline void Name::run(const FloatSteps& s, float* dst, float* src,               \
                                     [[maybe_unused]] float* scratch,                           \
                                     [[maybe_unused]] uint32_t pass)
// The API's function for it: with a count, with space and a count, and of whole tensors.
#define ASC_FUNCTION_OF_COUNT(Name, Operation)                                        \
    template <typename T, bool isReuseSource = false>                                 \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const uint32_t calCount) {                            \
        run_elementwise<Operation>(dst, src, scratch_for<Operation, T>(), calCount);  \
    }
#define ASC_FUNCTION_OF_SPACE(Name, Operation)                                        \
    ASC_FUNCTION_OF_COUNT(Name, Operation)                                            \
    template <typename T, bool isReuseSource = false>                                 \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const LocalTensor<uint8_t>& sharedTmpBuffer,          \
                                const uint32_t calCount) {                            \
        run_elementwise<Operation>(dst, src, sharedTmpBuffer, calCount);              \
    }
#define ASC_FUNCTION(Name, Operation)                                                     \
    ASC_FUNCTION_OF_SPACE(Name, Operation)                                                \
    template <typename T, bool isReuseSource = false>                                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,     \
                                const LocalTensor<uint8_t>& sharedTmpBuffer) {            \
        run_elementwise<Operation>(dst, src, sharedTmpBuffer, src.GetSize());             \
    }                                                                                     \
    template <typename T, bool isReuseSource = false>                                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src) {   \
        run_elementwise<Operation>(dst, src, scratch_for<Operation, T>(), src.GetSize()); \
    }

}  // namespace AscendC
