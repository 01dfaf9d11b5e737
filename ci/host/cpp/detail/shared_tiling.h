// Tiling structures of the high-level API as plain data, which newer operators share between host
// and kernel. Their fields are those of the classes with setters.
#pragma once

#include "detail/library_tiling.h"
#include "detail/matmul_tiling.h"
#include "detail/small_floats.h"

// Some hosts ask for its size. A program that holds host and kernel in one file has the device's.
#ifndef ASCENDOPT_DEVICE_TYPES
using half = Ops::Base::fp16_t;
#endif

#if !defined(ASCENDOPT_ASC_TILING) && !defined(ASCENDOPT_DEVICE_TYPES)
namespace AscendC {
// Rows and columns of a fractal. Operators that do not include the library's tiling have a constant
// of this name of their own.
constexpr uint32_t BLOCK_CUBE = 16;
}  // namespace AscendC
#define ASCENDOPT_MEMBER(name) int32_t name;
struct alignas(8) TCubeTiling {
    ASCENDOPT_CUBE_TILING(ASCENDOPT_MEMBER)
};
#undef ASCENDOPT_MEMBER
namespace AscendC {
namespace tiling {
using ::TCubeTiling;
}
}  // namespace AscendC

// What a product takes of each memory, by its tiling as plain data.
inline int32_t MatmulGetTmpBufSizeV2(TCubeTiling& tiling,
                                     matmul_tiling::SysTilingTempBufSize& sizes) {
    sizes.l1Size = tiling.shareL1Size;
    sizes.l0cSize = tiling.shareL0CSize;
    sizes.ubSize = tiling.shareUbSize;
    return 0;
}
inline int32_t MultiCoreMatmulGetTmpBufSizeV2(TCubeTiling& tiling,
                                              matmul_tiling::SysTilingTempBufSize& sizes) {
    return MatmulGetTmpBufSizeV2(tiling, sizes);
}
inline int32_t BatchMatmulGetTmpBufSizeV2(TCubeTiling& tiling,
                                          matmul_tiling::SysTilingTempBufSize& sizes) {
    return MatmulGetTmpBufSizeV2(tiling, sizes);
}
using AscendC::tiling::ConfusionTransposeTiling;
using AscendC::tiling::SoftMaxTiling;
using AscendC::tiling::TopkTiling;
#endif
