// Tiling helpers of the high-level library (softmax, math functions): scratch sizes and splits.
#pragma once

#include "detail/ge_shape.h"
#include "detail/platform.h"
#include "detail/tiling_data.h"

#ifdef ASCENDOPT_ASC_TILING
#include "detail/asc_tiling.h"
#else

namespace optiling {
BEGIN_TILING_DATA_DEF(SoftMaxTiling)
TILING_DATA_FIELD_DEF(uint32_t, srcM)
TILING_DATA_FIELD_DEF(uint32_t, srcK)
TILING_DATA_FIELD_DEF(uint32_t, srcSize)
TILING_DATA_FIELD_DEF(uint32_t, outMaxM)
TILING_DATA_FIELD_DEF(uint32_t, outMaxK)
TILING_DATA_FIELD_DEF(uint32_t, outMaxSize)
TILING_DATA_FIELD_DEF(uint32_t, splitM)
TILING_DATA_FIELD_DEF(uint32_t, splitK)
TILING_DATA_FIELD_DEF(uint32_t, splitSize)
TILING_DATA_FIELD_DEF(uint32_t, reduceM)
TILING_DATA_FIELD_DEF(uint32_t, reduceK)
TILING_DATA_FIELD_DEF(uint32_t, reduceSize)
TILING_DATA_FIELD_DEF(uint32_t, rangeM)
TILING_DATA_FIELD_DEF(uint32_t, tailM)
TILING_DATA_FIELD_DEF(uint32_t, tailSplitSize)
TILING_DATA_FIELD_DEF(uint32_t, tailReduceSize)
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

namespace AscendC {
// Scratch of one row: the float copy of the row, and a block for its maximum and sum.
uint32_t GetSoftMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool reuse);
uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& shape, uint32_t type_size, bool reuse);
void SoftMaxTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                       optiling::SoftMaxTiling& tiling);
void SoftMaxFlashV2TilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t max_type_size,
                              uint32_t local_bytes, optiling::SoftMaxTiling& tiling,
                              bool basic_block, bool broadcast = false);
uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& shape, uint32_t type_size,
                                     uint32_t max_type_size, bool update, bool basic_block = false,
                                     bool broadcast = false);
uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& shape, uint32_t type_size,
                                     uint32_t max_type_size, bool update, bool basic_block = false,
                                     bool broadcast = false);
uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& shape, uint32_t type_size, bool front,
                                  bool reuse);
uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& shape, uint32_t type_size, bool front,
                                  bool reuse);
void SoftMaxGradTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                           optiling::SoftMaxTiling& tiling, bool front = false);
void GetMeanMaxMinTmpSize(uint32_t n, uint32_t type_size, uint32_t accumulate_size, bool reuse,
                          uint32_t& max, uint32_t& min);
// A broadcast along the last axis fills one repeat of blocks before it spreads them.
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
#undef ASCENDOPT_REDUCTION_SCRATCH
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
#undef ASCENDOPT_ELEMENTWISE_SCRATCH

inline void GetPowerMaxMinTmpSize(const ge::Shape& a, const ge::Shape&, const bool, const uint32_t,
                                  const bool, uint32_t& max, uint32_t& min) {
    elementwise_scratch(a, 6, max, min);
}
}  // namespace AscendC
#endif  // ASCENDOPT_ASC_TILING
