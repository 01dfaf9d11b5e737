// Tiling structures of the high-level API, which host tilings nest in their own. On the device
// they are plain data; field order and types are those of the host side.
#pragma once

#include <cstdint>

struct SoftMaxTiling {
    uint32_t srcM, srcK, srcSize;
    uint32_t outMaxM, outMaxK, outMaxSize;
    uint32_t splitM, splitK, splitSize;
    uint32_t reduceM, reduceK, reduceSize;
    uint32_t rangeM, tailM, tailSplitSize, tailReduceSize;
};

// The rows of LayerNorm and RmsNorm: how many, how far apart, and how many elements count.
struct LayerNormTiling {
    uint32_t bLength, sLength, hLength, originalHLength;
};
struct LayerNormSeparateTiling {
    uint32_t aLength, rLength;
};
struct RmsNormTiling {
    uint32_t bLength, sLength, hLength, originalHLength;
};

// How a matrix product is cut: over cores, into L1 steps and base blocks.
// clang-format off
#define ASC_CUBE_TILING(x) \
    x(usedCoreNum) x(M) x(N) x(Ka) x(Kb) x(singleCoreM) x(singleCoreN) x(singleCoreK) \
    x(baseM) x(baseN) x(baseK) x(depthA1) x(depthB1) x(stepM) x(stepN) x(isBias) x(transLength) \
    x(iterateOrder) x(shareMode) x(shareL1Size) x(shareL0CSize) x(shareUbSize) \
    x(batchM) x(batchN) x(singleBatchM) x(singleBatchN) x(stepKa) x(stepKb) \
    x(depthAL1CacheUB) x(depthBL1CacheUB) x(dbL0A) x(dbL0B) x(dbL0C) \
    x(ALayoutInfoB) x(ALayoutInfoS) x(ALayoutInfoN) x(ALayoutInfoG) x(ALayoutInfoD) \
    x(BLayoutInfoB) x(BLayoutInfoS) x(BLayoutInfoN) x(BLayoutInfoG) x(BLayoutInfoD) \
    x(CLayoutInfoB) x(CLayoutInfoS1) x(CLayoutInfoN) x(CLayoutInfoG) x(CLayoutInfoS2) \
    x(BatchNum) x(mxTypePara)
// clang-format on
#define ASC_MEMBER(name) int32_t name;
struct alignas(8) TCubeTiling {
    ASC_CUBE_TILING(ASC_MEMBER)
};
#undef ASC_MEMBER

// Newer sources name it where a toolkit's header has it.
namespace AscendC {
namespace tiling {
using ::TCubeTiling;
}
}  // namespace AscendC
