// Quantisation and its inverse, DropOut, running sums and running moments.
#pragma once

#include "softmax_flash.h"

namespace AscendC {

// ---- int8 from float or half: round(x scale + offset), through half as the hardware's path goes
struct AscendQuantConfig {
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

// `buffer` holds columns halves.
template <typename T>
__aicore__ inline void to_int8(int8_t* dst, T* scaled, half* buffer, uint32_t columns) {
    const FloatSteps s(columns);
    if constexpr (IsSameType<T, float>::value) {
        s.narrow(buffer, scaled, RoundMode::CAST_RINT);
    } else {
        buffer = scaled;
    }
    UnaryRepeatParams params;
    params.dstRepStride = DEFAULT_REPEAT_STRIDE / 2;
    cast_intrinsic(dst, buffer, RoundMode::CAST_RINT, 1, params);
    pipe_barrier(PIPE_V);
}
template <typename T, bool isReuseSource = false,
          const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
__aicore__ inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                                   const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale,
                                   const float offset, const uint32_t calCount) {
    const uint32_t bytes = sizeof(T) + (IsSameType<T, float>::value ? sizeof(half) : 0);
    const uint32_t pass = sharedTmpBuffer.GetSize() / bytes / 128 * 128;
    if (pass == 0) dav_fail("AscendQuant was given too little temporary space.");
    T* scaled = reinterpret_cast<T*>(sharedTmpBuffer.GetPhyAddr());
    half* narrow = reinterpret_cast<half*>(scaled + pass);
    for (uint32_t done = 0; done < calCount; done += pass) {
        const uint32_t count = calCount - done < pass ? calCount - done : pass;
        {
            const CounterMode mode(count);
            vmuls(scaled, src.pointer() + done, T(scale), 1, 1, 1, 8, 8);
            pipe_barrier(PIPE_V);
            vadds(scaled, scaled, T(offset), 1, 1, 1, 8, 8);
            pipe_barrier(PIPE_V);
        }
        to_int8(dst.pointer() + done, scaled, narrow, count);
    }
}
template <typename T, bool isReuseSource = false,
          const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
__aicore__ inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                                   const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale,
                                   const float offset) {
    AscendQuant<T>(dst, src, sharedTmpBuffer, scale, offset, src.GetSize());
}
template <typename T, bool isReuseSource = false,
          const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
__aicore__ inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                                   const float scale, const float offset, const uint32_t calCount) {
    AscendQuant<T>(dst, src, free_scratch(), scale, offset, calCount);
}
template <typename T, bool isReuseSource = false,
          const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
__aicore__ inline void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                                   const float scale, const float offset) {
    AscendQuant<T>(dst, src, free_scratch(), scale, offset, src.GetSize());
}

// ---- float, half or bfloat16 from int32 sums of products: x times one scale, or one a column
enum class DeQuantMode : uint8_t { DEQUANT_WITH_MULTI_ROW = 0, DEQUANT_WITH_SINGLE_ROW };
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};

// Floats of whole rows of whole blocks: all rows by one instruction for every 64 columns.
__aicore__ inline void dequantise_whole(float* dst, int32_t* src, float* scales, float scale,
                                        uint32_t rows, uint32_t columns) {
    {
        const FloatSteps s(rows * columns);
        vconv_s322f32(dst, src, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        if (scales == nullptr) s.muls(dst, dst, scale);
    }
    if (scales == nullptr) return;
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(float);
    const uint8_t pitch = uint8_t(columns * sizeof(float) / ONE_BLK_SIZE);
    for (uint32_t at = 0; at < columns; at += whole) {
        AscendCUtils::SetMask<float>(int32_t(columns - at < whole ? columns - at : whole));
        for (uint32_t done = 0; done < rows; done += MAX_REPEAT_TIMES) {
            const uint32_t left = rows - done;
            float* to = dst + done * columns + at;
            vmul(to, to, scales + at, uint8_t(left < MAX_REPEAT_TIMES ? left : MAX_REPEAT_TIMES), 1,
                 1, 1, pitch, pitch, 0);
        }
    }
    pipe_barrier(PIPE_V);
    ResetMask();
}
// Rows of `columns` that count, `pitch` apart; rows of dst fill whole blocks. `scales` (floats, one
// a column) may be null: then `scale` is for all.
template <typename D>
__aicore__ inline void dequantise_rows(D* dst, int32_t* src, float* scales, float scale,
                                       float* row_buffer, uint32_t rows, uint32_t pitch,
                                       uint32_t columns) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(D);
    const uint32_t out_pitch = (pitch + block - 1) / block * block;
    if constexpr (IsSameType<D, float>::value) {
        if (columns == out_pitch && columns / block <= 255) {
            dequantise_whole(dst, src, scales, scale, rows, columns);
            return;
        }
    }
    for (uint32_t row = 0; row < rows; ++row) {
        const FloatSteps s(columns);
        float* to = row_buffer;
        if constexpr (IsSameType<D, float>::value) to = dst + row * out_pitch;
        vconv_s322f32(to, src + row * pitch, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        if (scales != nullptr) {
            s.mul(to, to, scales);
        } else {
            s.muls(to, to, scale);
        }
        if constexpr (!IsSameType<D, float>::value) {
            s.narrow(dst + row * out_pitch, to, RoundMode::CAST_RINT);
        }
    }
}
// A single row of several times calCount elements counts as that many rows.
template <typename D, DeQuantMode mode>
__aicore__ inline DequantParams dequant_shape(DequantParams shape) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(D);
    if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && shape.m == 1 && shape.calCount != 0 &&
        shape.calCount % block == 0 && shape.n % shape.calCount == 0) {
        return {shape.n / shape.calCount, shape.calCount, shape.calCount};
    }
    return shape;
}
__aicore__ inline void check_dequant_space(const LocalTensor<uint8_t>& scratch, uint32_t elements) {
    if (scratch.GetSize() < elements * sizeof(float)) {
        dav_fail("AscendDequant was given too little temporary space for one row.");
    }
}
// Scales of bfloat16 are multiplied as floats; those of uint64_t hold a float's bits each.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const LocalTensor<scaleT>& deqScale,
                                     const LocalTensor<uint8_t>& sharedTmpBuffer,
                                     DequantParams params) {
    const DequantParams shape = dequant_shape<dstT, mode>(params);
    const uint32_t rounded = (shape.calCount + 63) / 64 * 64;
    check_dequant_space(sharedTmpBuffer, 2 * rounded);
    float* row = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* scales = row + rounded;
    if constexpr (IsSameType<scaleT, float>::value) {
        scales = deqScale.pointer();
    } else if constexpr (sizeof(scaleT) == 8) {
        // Every other word of the 64-bit scales.
        uint64_t taken = 0;
        LocalTensor<uint32_t> low =
            sharedTmpBuffer[rounded * 4].template ReinterpretCast<uint32_t>();
        GatherMask(low, deqScale.template ReinterpretCast<uint32_t>(), uint8_t(1), true,
                   2 * shape.calCount, {1, 1, 8, 0}, taken);
        pipe_barrier(PIPE_V);
        ResetMask();
    } else {
        const FloatSteps s(shape.calCount);
        s.widen(scales, deqScale.pointer());
    }
    dequantise_rows(dst.pointer(), src.pointer(), scales, 0.0f, row, shape.m, shape.n,
                    shape.calCount);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const scaleT deqScale,
                                     const LocalTensor<uint8_t>& sharedTmpBuffer,
                                     DequantParams params) {
    const DequantParams shape = dequant_shape<dstT, mode>(params);
    check_dequant_space(sharedTmpBuffer, shape.calCount);
    dequantise_rows(dst.pointer(), src.pointer(), static_cast<float*>(nullptr), float(deqScale),
                    reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr()), shape.m, shape.n,
                    shape.calCount);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const LocalTensor<scaleT>& deqScale, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, free_scratch(), params);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const scaleT deqScale, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, free_scratch(), params);
}
// The older forms: one row as long as the scales.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const LocalTensor<scaleT>& deqScale,
                                     const LocalTensor<uint8_t>& sharedTmpBuffer,
                                     const uint32_t calCount) {
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, sharedTmpBuffer,
                                      DequantParams{1, src.GetSize(), calCount});
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
__aicore__ inline void AscendDequant(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src,
                                     const LocalTensor<scaleT>& deqScale, const uint32_t calCount) {
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, free_scratch(), calCount);
}

// ---- DropOut: the elements that a mask keeps, divided by the share that is kept
struct DropOutShapeInfo {
    __aicore__ DropOutShapeInfo() {}
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};
// What the mask holds; misaligned: with padding behind what counts of a row.
constexpr uint32_t DROPOUT_MODE_AUTO = 0;
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;
// What the library prepares for masks of bits; ours needs nothing.
__aicore__ inline void DropOutBitModeInit() {}
template <typename T> __aicore__ inline void DropOutBitModeInit(const LocalTensor<T>&) {}
// Mode 0 tells bytes from bits by the mask's length: a byte an element, or a bit.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
__aicore__ inline void DropOut(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<uint8_t>& mask,
                               const LocalTensor<uint8_t>& sharedTmpBuffer, const float keepProb,
                               const DropOutShapeInfo& info) {
    const uint32_t columns = info.srcLastAxis;
    const bool bytes = dropOutMode == DROPOUT_MODE_AUTO ? info.maskLastAxis >= columns
                                                        : dropOutMode <= DROPOUT_MODE_BYTE_ALIGN;
    if (bytes) {
        SelectWithBytesMaskShapeInfo shape(info.firstAxis, columns, info.maskLastAxis);
        select_by_bytes<false>(dst, src, T(0), mask, sharedTmpBuffer, shape);
    } else if (info.maskLastAxis * 8 == columns) {
        // Bits without padding between the rows.
        Select(dst, mask, src, T(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, info.firstAxis * columns);
        pipe_barrier(PIPE_V);
    } else {
        for (uint32_t row = 0; row < info.firstAxis; ++row) {
            Select(dst[row * columns], mask[row * info.maskLastAxis], src[row * columns], T(0),
                   SELMODE::VSEL_TENSOR_SCALAR_MODE, columns);
            pipe_barrier(PIPE_V);
        }
    }
    Muls(dst, dst, T(1.0f / keepProb), int32_t(info.firstAxis * columns));
    pipe_barrier(PIPE_V);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
__aicore__ inline void DropOut(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<uint8_t>& mask, const float keepProb,
                               const DropOutShapeInfo& info) {
    DropOut<T, isInitBitMode, dropOutMode>(dst, src, mask, free_scratch(), keepProb, info);
}

// ---- running moments, each lane on its own: mean += (x - mean) / n, M += (x - mean)(x - mean')
struct WelfordUpdateConfig {
    bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
    uint32_t rnLength = 1;
    uint32_t abLength = 0;
    uint32_t abComputeLength = 0;
    float nRec = 1.0f;
};
template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
__aicore__ inline void WelfordUpdate(const LocalTensor<U>& outputMean,
                                     const LocalTensor<U>& outputVariance,
                                     const LocalTensor<U>& inputMean,
                                     const LocalTensor<U>& inputVariance,
                                     const LocalTensor<T>& inputX,
                                     const LocalTensor<uint8_t>& sharedTmpBuffer,
                                     const WelfordUpdateParam& para) {
    static_assert(IsSameType<U, float>::value, "moments are floats");
    const uint32_t pass = elements_per_pass(sharedTmpBuffer.GetSize(), 3);
    float* x = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* delta = x + pass;
    float* rest = delta + pass;
    for (uint32_t done = 0; done < para.abComputeLength; done += pass) {
        const uint32_t left = para.abComputeLength - done;
        const FloatSteps s(left < pass ? left : pass);
        float* from = s.wide(inputX.pointer() + done, x);
        s.sub(delta, from, inputMean.pointer() + done);
        s.muls(rest, delta, para.nRec);
        s.add(outputMean.pointer() + done, inputMean.pointer() + done, rest);
        s.sub(rest, from, outputMean.pointer() + done);
        s.mul(rest, rest, delta);
        s.add(outputVariance.pointer() + done, inputVariance.pointer() + done, rest);
    }
}
template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
__aicore__ inline void WelfordUpdate(const LocalTensor<U>& outputMean,
                                     const LocalTensor<U>& outputVariance,
                                     const LocalTensor<U>& inputMean,
                                     const LocalTensor<U>& inputVariance,
                                     const LocalTensor<T>& inputX, const WelfordUpdateParam& para) {
    WelfordUpdate<T, U>(outputMean, outputVariance, inputMean, inputVariance, inputX,
                        free_scratch(), para);
}

// ---- running sums along the first axis of [outter, inner]: row by row, accumulated as floats
enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true,
                                              CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};
template <typename T>
__aicore__ inline void cumulate_rows(T* dst, T* src, float* sum, float* row_buffer, uint32_t rows,
                                     uint32_t columns) {
    for (uint32_t row = 0; row < rows; ++row) {
        const FloatSteps s(columns);
        float* from = s.wide(src + row * columns, row_buffer);
        if (row == 0) {
            s.muls(sum, from, 1.0f);
        } else {
            s.add(sum, sum, from);
        }
        if constexpr (IsSameType<T, float>::value) {
            s.muls(dst + row * columns, sum, 1.0f);
        } else {
            s.narrow(dst + row * columns, sum, RoundMode::CAST_RINT);
        }
    }
}
// Along the last axis the scalar unit adds: columns do not lie side by side there.
template <typename T>
__aicore__ inline void cumulate_columns(T* dst, T* src, uint32_t rows, uint32_t columns) {
    order_pipes<HardEvent::V_S>();
    for (uint32_t row = 0; row < rows; ++row) {
        float sum = 0.0f;
        for (uint32_t column = 0; column < columns; ++column) {
            const uint32_t at = row * columns + column;
            sum += float(load_scalar_result(src + at));
            dav_scalar_store(dst + at, sizeof(T));
            dst[at] = T(sum);
        }
    }
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
__aicore__ inline void CumSum(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow,
                              const LocalTensor<T>& src,
                              const LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& info) {
    if constexpr (config.isLastAxis) {
        cumulate_columns(dst.pointer(), src.pointer(), info.outter, info.inner);
    } else {
        const uint32_t rounded = (info.inner + 63) / 64 * 64;
        if (sharedTmpBuffer.GetSize() < 2 * rounded * sizeof(float)) {
            dav_fail("CumSum was given too little temporary space for two rows of floats.");
        }
        float* sum = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
        cumulate_rows(dst.pointer(), src.pointer(), sum, sum + rounded, info.outter, info.inner);
    }
    if constexpr (config.outputLastRow) {
        DataCopy(lastRow, dst[(info.outter - 1) * info.inner], info.inner);
        pipe_barrier(PIPE_V);
    }
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
__aicore__ inline void CumSum(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow,
                              const LocalTensor<T>& src, const CumSumInfo& info) {
    CumSum<T, config>(dst, lastRow, src, free_scratch(), info);
}

}  // namespace AscendC
