// Sum and Mean over the last axis, SoftMax over rows.
#pragma once

#include "elementary.h"
#include "index_pad.h"

namespace AscendC {

struct SumParams {
    uint32_t outter = 1;
    uint32_t inner = 0;  // columns a row takes, a multiple of 32 bytes
    uint32_t n = 0;      // columns that count
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};

// What reduces a repeat to one element, and what combines two elements.
struct SumReduction {
    template <typename T>
    __aicore__ static void repeats(T* dst, T* src, uint8_t count, uint16_t stride) {
        vcadd(dst, src, count, 1, 1, stride, false);
    }
    template <typename T> __aicore__ static void combine(T* dst, T* a, T* b) {
        vadd(dst, a, b, 1, 1, 1, 1, 8, 8, 8);
    }
};
struct MaxReduction {
    template <typename T>
    __aicore__ static void repeats(T* dst, T* src, uint8_t count, uint16_t stride) {
        vcmax(dst, src, count, 1, 1, stride, ONLY_VALUE);
    }
    template <typename T> __aicore__ static void combine(T* dst, T* a, T* b) {
        vmax(dst, a, b, 1, 1, 1, 1, 8, 8, 8);
    }
};
struct MinReduction {
    template <typename T>
    __aicore__ static void repeats(T* dst, T* src, uint8_t count, uint16_t stride) {
        vcmin(dst, src, count, 1, 1, stride, ONLY_VALUE);
    }
    template <typename T> __aicore__ static void combine(T* dst, T* a, T* b) {
        vmin(dst, a, b, 1, 1, 1, 1, 8, 8, 8);
    }
};

// dst[r] = the first `columns` of row r reduced; rows are `pitch` elements apart.
template <class Reduction, typename T>
__aicore__ inline void reduce_rows(T* dst, T* src, T* scratch, uint32_t rows, uint32_t pitch,
                                   uint32_t columns) {
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    if (columns <= whole) {
        AscendCUtils::SetMask<T>(int32_t(columns));
        for (uint32_t done = 0; done < rows; done += MAX_REPEAT_TIMES) {
            const uint32_t part = rows - done < MAX_REPEAT_TIMES ? rows - done : MAX_REPEAT_TIMES;
            Reduction::repeats(dst + done, src + uint64_t(done) * pitch, uint8_t(part),
                               uint16_t(pitch / block));
        }
    } else {
        for (uint32_t row = 0; row < rows; ++row) {
            T* from = src + uint64_t(row) * pitch;
            uint32_t left = columns;
            set_mask_count();
            while (left > 1) {
                const uint32_t results = (left + whole - 1) / whole;
                set_vector_mask(0, left);
                Reduction::repeats(results == 1 ? dst + row : scratch, from, 1,
                                   DEFAULT_REPEAT_STRIDE);
                pipe_barrier(PIPE_V);
                from = scratch;
                left = results;
            }
            set_mask_norm();
        }
    }
    pipe_barrier(PIPE_V);
    ResetMask();
}
template <typename T>
__aicore__ inline void sum_rows(T* dst, T* src, T* scratch, uint32_t rows, uint32_t pitch,
                                uint32_t columns) {
    reduce_rows<SumReduction>(dst, src, scratch, rows, pitch, columns);
}

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LocalTensor<uint8_t>& sharedTmpBuffer, const SumParams& params) {
    sum_rows(dst.pointer(), src.pointer(), (T*)sharedTmpBuffer.GetPhyAddr(), params.outter,
             params.inner, params.n);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const SumParams& params) {
    Sum<T, reduceDim>(dst, src, free_scratch(), params);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
__aicore__ inline void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const MeanParams& params) {
    if constexpr (IsSameType<T, accType>::value) {
        sum_rows(dst.pointer(), src.pointer(), (T*)sharedTmpBuffer.GetPhyAddr(), params.outter,
                 params.inner, params.n);
        Muls(dst, dst, T(1.0f / float(params.n)), int32_t(params.outter));
        pipe_barrier(PIPE_V);
    } else {
        // Halves are accumulated in single precision, row by row.
        const uint32_t rounded = (params.n + 63) / 64 * 64;
        float* row = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
        float* partial = row + rounded;
        float* results = partial + (rounded / 64 + 7) / 8 * 8;
        for (uint32_t r = 0; r < params.outter; ++r) {
            {
                const FloatSteps s(params.n);
                s.widen(row, src.pointer() + r * params.inner);
            }
            sum_rows(results + r, row, partial, 1, rounded, params.n);
        }
        const FloatSteps s(params.outter);
        s.muls(results, results, 1.0f / float(params.n));
        s.narrow(dst.pointer(), results, RoundMode::CAST_RINT);
    }
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
__aicore__ inline void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const MeanParams& params) {
    Mean<T, accType>(dst, src, free_scratch(), params);
}

}  // namespace AscendC
