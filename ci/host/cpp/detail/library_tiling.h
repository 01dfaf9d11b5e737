// Tiling helpers of the high-level library (softmax, math functions): scratch sizes and splits.
#pragma once

#include "detail/ge_shape.h"
#include "detail/platform.h"
#include "detail/tiling_data.h"

#ifdef ASCENDOPT_ASC_TILING
#include "detail/asc_tiling.h"
#else

// clang-format off
#define ASCENDOPT_SOFTMAX_TILING(x) \
    x(uint32_t, srcM) x(uint32_t, srcK) x(uint32_t, srcSize) x(uint32_t, outMaxM) \
    x(uint32_t, outMaxK) x(uint32_t, outMaxSize) x(uint32_t, splitM) x(uint32_t, splitK) \
    x(uint32_t, splitSize) x(uint32_t, reduceM) x(uint32_t, reduceK) x(uint32_t, reduceSize) \
    x(uint32_t, rangeM) x(uint32_t, tailM) x(uint32_t, tailSplitSize) \
    x(uint32_t, tailReduceSize)
#define ASCENDOPT_TOPK_TILING(x) \
    x(int32_t, tmpLocalSize) x(int32_t, allDataSize) x(int32_t, innerDataSize) \
    x(uint32_t, sortRepeat) x(int32_t, mrgSortRepeat) x(int32_t, kAlignFourBytes) \
    x(int32_t, kAlignTwoBytes) x(int32_t, maskOffset) x(int32_t, maskVreducev2FourBytes) \
    x(int32_t, maskVreducev2TwoBytes) x(int32_t, mrgSortSrc1offset) \
    x(int32_t, mrgSortSrc2offset) x(int32_t, mrgSortSrc3offset) \
    x(int32_t, mrgSortTwoQueueSrc1Offset) x(int32_t, mrgFourQueueTailPara1) \
    x(int32_t, mrgFourQueueTailPara2) x(int32_t, srcIndexOffset) \
    x(uint32_t, copyUbToUbBlockCount) x(int32_t, topkMrgSrc1MaskSizeOffset) \
    x(int32_t, topkNSmallSrcIndexOffset) x(uint32_t, vreduceValMask0) \
    x(uint32_t, vreduceValMask1) x(uint32_t, vreduceIdxMask0) x(uint32_t, vreduceIdxMask1) \
    x(uint16_t, vreducehalfValMask0) x(uint16_t, vreducehalfValMask1) \
    x(uint16_t, vreducehalfValMask2) x(uint16_t, vreducehalfValMask3) \
    x(uint16_t, vreducehalfValMask4) x(uint16_t, vreducehalfValMask5) \
    x(uint16_t, vreducehalfValMask6) x(uint16_t, vreducehalfValMask7)
#define ASCENDOPT_TRANSPOSE_TILING(x) \
    x(uint32_t, param0) x(uint32_t, param1) x(uint32_t, param2) x(uint32_t, param3) \
    x(uint32_t, param4) x(uint32_t, param5) x(uint32_t, param6) x(uint32_t, param7) \
    x(uint32_t, param8) x(uint32_t, param9) x(uint32_t, param10) x(uint32_t, param11) \
    x(uint32_t, param12) x(uint32_t, param13) x(uint32_t, param14) x(uint32_t, param15) \
    x(uint32_t, param16) x(uint32_t, param17)
// clang-format on

// As classes with setters, which tiling data nests, and as plain data, which host and kernel share.
namespace optiling {
BEGIN_TILING_DATA_DEF(SoftMaxTiling)
ASCENDOPT_SOFTMAX_TILING(TILING_DATA_FIELD_DEF)
END_TILING_DATA_DEF
BEGIN_TILING_DATA_DEF(TopkTiling)
ASCENDOPT_TOPK_TILING(TILING_DATA_FIELD_DEF)
END_TILING_DATA_DEF
BEGIN_TILING_DATA_DEF(ConfusionTransposeTiling)
ASCENDOPT_TRANSPOSE_TILING(TILING_DATA_FIELD_DEF)
END_TILING_DATA_DEF
BEGIN_TILING_DATA_DEF(LayerNormTiling)
TILING_DATA_FIELD_DEF(uint32_t, bLength)
TILING_DATA_FIELD_DEF(uint32_t, sLength)
TILING_DATA_FIELD_DEF(uint32_t, hLength)
TILING_DATA_FIELD_DEF(uint32_t, originalHLength)
END_TILING_DATA_DEF
BEGIN_TILING_DATA_DEF(LayerNormSeparateTiling)
TILING_DATA_FIELD_DEF(uint32_t, aLength)
TILING_DATA_FIELD_DEF(uint32_t, rLength)
END_TILING_DATA_DEF
BEGIN_TILING_DATA_DEF(RmsNormTiling)
TILING_DATA_FIELD_DEF(uint32_t, bLength)
TILING_DATA_FIELD_DEF(uint32_t, sLength)
TILING_DATA_FIELD_DEF(uint32_t, hLength)
TILING_DATA_FIELD_DEF(uint32_t, originalHLength)
END_TILING_DATA_DEF
}  // namespace optiling

// Of further calls: what our kernel headers read.
// clang-format off
#define ASCENDOPT_ROWS_TILING(x) \
    x(uint32_t, bLength) x(uint32_t, sLength) x(uint32_t, hLength) x(uint32_t, originalHLength)
#define ASCENDOPT_BATCH_TILING(x) x(uint32_t, originalBLength) x(uint32_t, meanVarSize)
#define ASCENDOPT_GROUP_TILING(x) \
    x(uint32_t, n) x(uint32_t, c) x(uint32_t, hw) x(uint32_t, g) x(uint32_t, d)
#define ASCENDOPT_PAD_TILING(x) \
    x(uint32_t, srcHeight) x(uint32_t, srcWidth) x(uint32_t, srcOriWidth)
#define ASCENDOPT_UNPAD_TILING(x) x(uint32_t, srcHeight) x(uint32_t, srcWidth)
#define ASCENDOPT_FURTHER_TILINGS(x) \
    x(LogSoftMaxTiling, ASCENDOPT_SOFTMAX_TILING) x(DeepNormTiling, ASCENDOPT_ROWS_TILING) \
    x(LayerNormGradTiling, ASCENDOPT_ROWS_TILING) x(LayerNormGradBetaTiling, ASCENDOPT_ROWS_TILING) \
    x(BatchNormTiling, ASCENDOPT_BATCH_TILING) x(GroupNormTiling, ASCENDOPT_GROUP_TILING) \
    x(PadTiling, ASCENDOPT_PAD_TILING) x(UnPadTiling, ASCENDOPT_UNPAD_TILING)
// clang-format on
#define ASCENDOPT_FURTHER(Name, fields)               \
    namespace optiling {                              \
    BEGIN_TILING_DATA_DEF(Name)                       \
    fields(TILING_DATA_FIELD_DEF) END_TILING_DATA_DEF \
    }
ASCENDOPT_FURTHER_TILINGS(ASCENDOPT_FURTHER)
#undef ASCENDOPT_FURTHER

namespace AscendC {
namespace tiling {
template <class T> struct PlainOf;  // the plain form of a structure in either
}
}  // namespace AscendC
#define ASCENDOPT_PLAIN(type, name) type name = 0;
#define ASCENDOPT_SET(type, name) to.set_##name(from.name);
#define ASCENDOPT_SHARED_TILING(Name, fields)                                          \
    namespace AscendC {                                                                \
    namespace tiling {                                                                 \
    struct Name {                                                                      \
        fields(ASCENDOPT_PLAIN)                                                        \
    };                                                                                 \
    inline void assign(optiling::Name& to, const Name& from) { fields(ASCENDOPT_SET) } \
    inline void assign(Name& to, const Name& from) { to = from; }                      \
    template <> struct PlainOf<Name> {                                                 \
        using type = Name;                                                             \
    };                                                                                 \
    template <> struct PlainOf<optiling::Name> {                                       \
        using type = Name;                                                             \
    };                                                                                 \
    }                                                                                  \
    }
ASCENDOPT_SHARED_TILING(SoftMaxTiling, ASCENDOPT_SOFTMAX_TILING)
ASCENDOPT_SHARED_TILING(TopkTiling, ASCENDOPT_TOPK_TILING)
ASCENDOPT_SHARED_TILING(ConfusionTransposeTiling, ASCENDOPT_TRANSPOSE_TILING)
ASCENDOPT_FURTHER_TILINGS(ASCENDOPT_SHARED_TILING)
#undef ASCENDOPT_SHARED_TILING

namespace AscendC {
// Scratch of one row: the float copy of the row, and a block for its maximum and sum.
uint32_t softmax_scratch(const ge::Shape& shape, uint32_t rows_at_once, bool all_rows);
// A split of the rows by what `local_bytes` hold.
tiling::SoftMaxTiling softmax_split(const ge::Shape& shape, uint32_t max_type_size,
                                    uint32_t local_bytes);

inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return softmax_scratch(shape, 1, false);
}
inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return softmax_scratch(shape, 1, true);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& shape, uint32_t, bool, bool) {
    return softmax_scratch(shape, 1, false);
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& shape, uint32_t, bool, bool) {
    return softmax_scratch(shape, 1, true);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& shape, uint32_t, uint32_t, bool,
                                            bool = false, bool = false) {
    return softmax_scratch(shape, 1, false);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& shape, uint32_t, uint32_t, bool,
                                            bool = false, bool = false) {
    return softmax_scratch(shape, 1, true);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& shape, uint32_t, bool, bool) {
    return softmax_scratch(shape, 3, false);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& shape, uint32_t, bool, bool) {
    return softmax_scratch(shape, 3, true);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return softmax_scratch(shape, 1, false);
}
inline uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return softmax_scratch(shape, 1, true);
}
// Each takes either form of the struct.
template <class T>
void LogSoftMaxTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                          T& tiling) {
    const tiling::SoftMaxTiling from = softmax_split(shape, type_size, local_bytes);
    tiling::LogSoftMaxTiling split;
#define ASCENDOPT_COPY(type, name) split.name = from.name;
    ASCENDOPT_SOFTMAX_TILING(ASCENDOPT_COPY)
#undef ASCENDOPT_COPY
    tiling::assign(tiling, split);
}
template <class T>
void SoftMaxTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                       T& tiling) {
    tiling::assign(tiling, softmax_split(shape, type_size, local_bytes));
}
template <class T>
void SoftMaxFlashTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                            T& tiling, bool = false) {
    tiling::assign(tiling, softmax_split(shape, type_size, local_bytes));
}
template <class T>
void SoftMaxFlashV2TilingFunc(const ge::Shape& shape, uint32_t, uint32_t max_type_size,
                              uint32_t local_bytes, T& tiling, bool, bool = false, bool = false) {
    tiling::assign(tiling, softmax_split(shape, max_type_size, local_bytes));
}
template <class T>
void SoftMaxGradTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                           T& tiling, bool = false) {
    tiling::assign(tiling, softmax_split(shape, type_size, local_bytes / 3));
}
// Whether rows and columns are those of basic blocks: 8 rows, and 64 up to 2048 columns.
bool basic_block(uint32_t rows, uint32_t columns);
inline bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, uint32_t = 2) {
    return basic_block(tiling.reduceM, tiling.srcK);
}
inline bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, uint32_t = 2) {
    return basic_block(tiling.get_reduceM(), tiling.get_srcK());
}

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class TopKAlgo { RADIX_SELECT, MERGE_SORT };
enum class TopKOrder { UNSET, LARGEST, SMALLEST };
struct TopKConfig {
    TopKAlgo algo = TopKAlgo::MERGE_SORT;
    TopKOrder order = TopKOrder::UNSET;
    bool sorted = true;
};
tiling::TopkTiling topk_split(int32_t inner, int32_t outer, int32_t k, uint32_t type_size);
bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, int32_t inner,
                          int32_t outer, bool reuse, bool indices_given, TopKMode mode,
                          bool largest, uint32_t type_size, uint32_t& max, uint32_t& min);
template <class T>
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outer,
                    int32_t k, uint32_t type_size, bool, TopKMode, bool, T& tiling) {
    tiling::assign(tiling, topk_split(inner, outer, k, type_size));
    return true;
}

// A transposition of 2 axes (kind 7): fractals of 16 rows. The other kinds do not run yet.
tiling::ConfusionTransposeTiling transpose_split(const ge::Shape& shape, uint32_t scratch_bytes,
                                                 uint32_t type_size, uint32_t kind);
void GetTransposeMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t kind,
                               uint32_t& max, uint32_t& min);
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size,
                                               uint32_t kind, uint32_t& max, uint32_t& min) {
    GetTransposeMaxMinTmpSize(shape, type_size, kind, max, min);
}
template <class T>
void GetTransposeTilingInfo(const ge::Shape& shape, uint32_t scratch_bytes, uint32_t type_size,
                            uint32_t kind, T& tiling) {
    tiling::assign(tiling, transpose_split(shape, scratch_bytes, type_size, kind));
}
template <class T>
void GetConfusionTransposeTilingInfo(const ge::Shape& shape, uint32_t scratch_bytes,
                                     uint32_t type_size, uint32_t kind, T& tiling) {
    GetTransposeTilingInfo(shape, scratch_bytes, type_size, kind, tiling);
}
template <class T>
void GetConfusionTransposeOnlyTilingInfo(const ge::Shape& shape, uint32_t scratch_bytes,
                                         uint32_t type_size, T& tiling) {
    GetTransposeTilingInfo(shape, scratch_bytes, type_size, 7, tiling);
}

// Scratch of a selection by a mask of bytes: the mask as half, one bit an element, a row of each.
uint32_t select_scratch(const ge::Shape& mask, uint32_t mask_type_size, bool all_rows);
#define ASCENDOPT_SELECT_SCRATCH(Name)                                                  \
    inline uint32_t Get##Name##MinTmpSize(const ge::Shape&, const ge::Shape&, uint32_t, \
                                          const ge::Shape& mask, uint32_t size, bool) { \
        return select_scratch(mask, size, false);                                       \
    }                                                                                   \
    inline uint32_t Get##Name##MaxTmpSize(const ge::Shape&, const ge::Shape&, uint32_t, \
                                          const ge::Shape& mask, uint32_t size, bool) { \
        return select_scratch(mask, size, true);                                        \
    }                                                                                   \
    inline void Get##Name##MaxMinTmpSize(const ge::Shape&, const ge::Shape&, uint32_t,  \
                                         const ge::Shape& mask, uint32_t size, bool,    \
                                         uint32_t& max, uint32_t& min) {                \
        min = select_scratch(mask, size, false);                                        \
        max = select_scratch(mask, size, true);                                         \
    }
ASCENDOPT_SELECT_SCRATCH(Select)
ASCENDOPT_SELECT_SCRATCH(SelectWithBytesMask)
#undef ASCENDOPT_SELECT_SCRATCH
// Of a drop-out: as a selection whose mask has the shape of the source.
inline uint32_t GetDropOutMinTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return select_scratch(shape, 1, false);
}
inline uint32_t GetDropOutMaxTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return select_scratch(shape, 1, true);
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                                    uint32_t& min) {
    min = select_scratch(shape, 1, false);
    max = select_scratch(shape, 1, true);
}
void GetMeanMaxMinTmpSize(uint32_t n, uint32_t type_size, uint32_t accumulate_size, bool reuse,
                          uint32_t& max, uint32_t& min);
// A broadcast along the last axis fills blocks of one value before it spreads them.
void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform,
                               const ge::Shape& from, const ge::Shape& to, uint32_t type_size,
                               bool reuse, uint32_t& max, uint32_t& min);
// Five float rows. `shape` is {B, S, stored H, H}, or {A, R} where the inverse of the standard
// deviation is asked for; RmsNorm gives the stored and the original shape apart.
void GetLayerNormMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool reuse,
                               uint32_t& max, uint32_t& min);
void GetLayerNormMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool reuse, bool inverse,
                               bool only_output, uint32_t& max, uint32_t& min);
void GetLayerNormNDTilingInfo(const ge::Shape& shape, uint32_t local_bytes, uint32_t type_size,
                              bool reuse, optiling::LayerNormTiling& tiling);
void GetLayerNormNDTilingInfo(const ge::Shape& shape, uint32_t local_bytes, uint32_t type_size,
                              bool reuse, bool inverse, optiling::LayerNormSeparateTiling& tiling);
bool GetRmsNormMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t& max,
                             uint32_t& min, bool basic_block = false);
bool GetRmsNormTilingInfo(const ge::Shape& shape, const ge::Shape& original, uint32_t local_bytes,
                          uint32_t type_size, optiling::RmsNormTiling& tiling,
                          bool basic_block = false);
void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t mean_size,
                                   bool reuse, bool in_place, uint32_t& max, uint32_t& min);
void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool reuse,
                                     uint32_t& max, uint32_t& min);
void GetNormalizeMaxMinTmpSize(const ge::Shape& shape, uint32_t affine_size, uint32_t type_size,
                               bool reuse, bool inverse, bool only_output, uint32_t& max,
                               uint32_t& min);
constexpr uint32_t ONE_BLK_SIZE = 32;  // bytes

// Axes that stay (A) and that are reduced (R), outermost first.
enum class ReducePattern : uint32_t {
    AR = 0,
    RA = 1,
    R,
    ARA,
    ARAR,
    ARARA,
    ARARAR,
    ARARARA,
    ARARARAR,
    ARARARARA,
    RAR,
    RARA,
    RARAR,
    RARARA,
    RARARAR,
    RARARARA,
};
// Scratch of the reductions over an axis of a matrix: one row of partial results.
void reduction_scratch(const ge::Shape& shape, ge::DataType type, ReducePattern pattern,
                       uint32_t& max, uint32_t& min);
#define ASCENDOPT_REDUCTION_SCRATCH(Name)                                                  \
    inline void Get##Name##MaxMinTmpSize(const ge::Shape& shape, const ge::DataType type,  \
                                         ReducePattern pattern, bool, bool, uint32_t& max, \
                                         uint32_t& min) {                                  \
        reduction_scratch(shape, type, pattern, max, min);                                 \
    }
ASCENDOPT_REDUCTION_SCRATCH(ReduceSum)
ASCENDOPT_REDUCTION_SCRATCH(ReduceMax)
ASCENDOPT_REDUCTION_SCRATCH(ReduceMin)
ASCENDOPT_REDUCTION_SCRATCH(ReduceMean)
ASCENDOPT_REDUCTION_SCRATCH(ReduceProd)
ASCENDOPT_REDUCTION_SCRATCH(ReduceAll)
ASCENDOPT_REDUCTION_SCRATCH(ReduceAny)
#undef ASCENDOPT_REDUCTION_SCRATCH
// A float and two words of each element.
inline void GetReduceXorSumMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                                         uint32_t& min) {
    const auto elements = static_cast<uint32_t>(shape.GetShapeSize());
    min = 512;
    max = std::max(min, (elements + 63) / 64 * min);
}
void GetSumMaxMinTmpSize(uint32_t n, uint32_t type_size, bool reuse, uint32_t& max, uint32_t& min);

// Scratch of an elementwise library function with `buffers` float temporaries.
void elementwise_scratch(const ge::Shape& shape, uint32_t buffers, uint32_t& max, uint32_t& min);

#define ASCENDOPT_ELEMENTWISE_SCRATCH(Name, buffers)                                              \
    inline void Get##Name##MaxMinTmpSize(const ge::Shape& shape, const uint32_t, const bool,      \
                                         uint32_t& max, uint32_t& min) {                          \
        elementwise_scratch(shape, buffers, max, min);                                            \
    }                                                                                             \
    inline void Get##Name##TmpBufferFactorSize(const uint32_t, uint32_t& live, uint32_t& extra) { \
        live = buffers;                                                                           \
        extra = 0;                                                                                \
    }
ASCENDOPT_ELEMENTWISE_SCRATCH(Sigmoid, 1)
ASCENDOPT_ELEMENTWISE_SCRATCH(Tanh, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Silu, 1)
ASCENDOPT_ELEMENTWISE_SCRATCH(Gelu, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Sin, 4)
ASCENDOPT_ELEMENTWISE_SCRATCH(Cos, 4)
ASCENDOPT_ELEMENTWISE_SCRATCH(Tan, 5)
ASCENDOPT_ELEMENTWISE_SCRATCH(Asin, 4)
ASCENDOPT_ELEMENTWISE_SCRATCH(Acos, 4)
ASCENDOPT_ELEMENTWISE_SCRATCH(Atan, 5)
ASCENDOPT_ELEMENTWISE_SCRATCH(Sinh, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Cosh, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Asinh, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Acosh, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Atanh, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Erf, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Erfc, 5)
ASCENDOPT_ELEMENTWISE_SCRATCH(Exp, 4)
ASCENDOPT_ELEMENTWISE_SCRATCH(Log, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Log2, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Log10, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Floor, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Ceil, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Round, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Trunc, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Frac, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(Sign, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Lgamma, 8)
ASCENDOPT_ELEMENTWISE_SCRATCH(Digamma, 8)
ASCENDOPT_ELEMENTWISE_SCRATCH(Xor, 1)
ASCENDOPT_ELEMENTWISE_SCRATCH(SwiGLU, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(ReGlu, 2)
ASCENDOPT_ELEMENTWISE_SCRATCH(GeGLU, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Swish, 1)
ASCENDOPT_ELEMENTWISE_SCRATCH(Clamp, 1)
ASCENDOPT_ELEMENTWISE_SCRATCH(Fmod, 3)
ASCENDOPT_ELEMENTWISE_SCRATCH(Axpy, 2)
#undef ASCENDOPT_ELEMENTWISE_SCRATCH

// Quantisation: floats of what is converted at once; a dequantisation takes all of it at once.
inline void GetAscendQuantMaxMinTmpSize(const ge::Shape& shape, uint32_t, uint32_t& max,
                                        uint32_t& min) {
    elementwise_scratch(shape, 2, max, min);
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape& shape, uint32_t, uint32_t& max,
                                          uint32_t& min) {
    elementwise_scratch(shape, 2, max, min);
    min = max;
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& shape, const ge::Shape&, bool,
                                            ge::DataType, ge::DataType, uint32_t& max,
                                            uint32_t& min) {
    elementwise_scratch(shape, 4, max, min);
}
inline uint32_t GetAscendAntiQuantMaxTmpSize(const ge::Shape& shape, const ge::Shape&, bool,
                                             ge::DataType, ge::DataType) {
    uint32_t max = 0;
    uint32_t min = 0;
    elementwise_scratch(shape, 4, max, min);
    return max;
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const ge::Shape& shape, const ge::Shape&, bool,
                                             ge::DataType, ge::DataType) {
    uint32_t max = 0;
    uint32_t min = 0;
    elementwise_scratch(shape, 4, max, min);
    return min;
}

// The same sizes under names or with arguments that only these functions have.
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape& shape, uint32_t, uint32_t& max, uint32_t& min,
                                   bool) {
    elementwise_scratch(shape, 2, max, min);
}
inline void GetGeluMaxMinTmpSize(const ge::Shape& shape, uint32_t, uint32_t& max, uint32_t& min) {
    elementwise_scratch(shape, 2, max, min);
}
inline uint32_t GetGeluMinTmpSize(const ge::Shape& shape, uint32_t) {
    uint32_t max = 0;
    uint32_t min = 0;
    elementwise_scratch(shape, 2, max, min);
    return min;
}
inline uint32_t GetGeluMaxTmpSize(const ge::Shape& shape, uint32_t) {
    uint32_t max = 0;
    uint32_t min = 0;
    elementwise_scratch(shape, 2, max, min);
    return max;
}
inline void GetSiluTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max, uint32_t& min) {
    elementwise_scratch(shape, 1, max, min);
}
inline void GetSwishTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max, uint32_t& min) {
    elementwise_scratch(shape, 1, max, min);
}
// Two rows of floats.
void GetCumSumMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool last_axis, bool reuse,
                            uint32_t& max, uint32_t& min);
// A progression takes no scratch.
inline void GetArithProgressionMaxMinTmpSize(uint32_t& max, uint32_t& min) { max = min = 0; }
inline void GetArangeMaxMinTmpSize(uint32_t& max, uint32_t& min) { max = min = 0; }

// A sorted element is its value and its index, 8 bytes; to join the two takes no scratch.
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, uint32_t elements,
                               uint32_t) {
    return elements * 8;
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, uint32_t, uint32_t) {
    return 0;
}

inline void GetPowerMaxMinTmpSize(const ge::Shape& a, const ge::Shape&, const bool, const uint32_t,
                                  const bool, uint32_t& max, uint32_t& min) {
    elementwise_scratch(a, 6, max, min);
}
}  // namespace AscendC
#include "detail/normalise_tiling.h"
#endif  // ASCENDOPT_ASC_TILING
