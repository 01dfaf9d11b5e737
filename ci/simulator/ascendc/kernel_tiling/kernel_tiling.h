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

struct LogSoftMaxTiling {
    uint32_t srcM, srcK, srcSize;
    uint32_t outMaxM, outMaxK, outMaxSize;
    uint32_t splitM, splitK, splitSize;
    uint32_t reduceM, reduceK, reduceSize;
    uint32_t rangeM, tailM, tailSplitSize, tailReduceSize;
};

// How rows are sorted for their k largest, and how much space that takes.
struct TopkTiling {
    int32_t tmpLocalSize, allDataSize, innerDataSize;
    uint32_t sortRepeat;
    int32_t mrgSortRepeat, kAlignFourBytes, kAlignTwoBytes, maskOffset;
    int32_t maskVreducev2FourBytes, maskVreducev2TwoBytes;
    int32_t mrgSortSrc1offset, mrgSortSrc2offset, mrgSortSrc3offset, mrgSortTwoQueueSrc1Offset;
    int32_t mrgFourQueueTailPara1, mrgFourQueueTailPara2, srcIndexOffset;
    uint32_t copyUbToUbBlockCount;
    int32_t topkMrgSrc1MaskSizeOffset, topkNSmallSrcIndexOffset;
    uint32_t vreduceValMask0, vreduceValMask1, vreduceIdxMask0, vreduceIdxMask1;
    uint16_t vreducehalfValMask0, vreducehalfValMask1, vreducehalfValMask2, vreducehalfValMask3;
    uint16_t vreducehalfValMask4, vreducehalfValMask5, vreducehalfValMask6, vreducehalfValMask7;
};
// Of a transposition of two axes: elements a block, rows, columns, fractals, stride, repeats.
struct ConfusionTransposeTiling {
    uint32_t param0, param1, param2, param3, param4, param5, param6, param7, param8;
    uint32_t param9, param10, param11, param12, param13, param14, param15, param16, param17;
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
struct DeepNormTiling {
    uint32_t bLength, sLength, hLength, originalHLength;
};
struct LayerNormGradTiling {
    uint32_t bLength, sLength, hLength, originalHLength;
};
struct LayerNormGradBetaTiling {
    uint32_t bLength, sLength, hLength, originalHLength;
};
// Batches, and the elements of one.
struct BatchNormTiling {
    uint32_t originalBLength, meanVarSize;
};
// Samples, channels, their elements, groups, and the channels of a group.
struct GroupNormTiling {
    uint32_t n, c, hw, g, d;
};
// Rows, the columns that they take, and those that count.
struct PadTiling {
    uint32_t srcHeight, srcWidth, srcOriWidth;
};
struct UnPadTiling {
    uint32_t srcHeight, srcWidth;
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
using ::BatchNormTiling;
using ::ConfusionTransposeTiling;
using ::DeepNormTiling;
using ::GroupNormTiling;
using ::LayerNormGradBetaTiling;
using ::LayerNormGradTiling;
using ::LogSoftMaxTiling;
using ::PadTiling;
using ::SoftMaxTiling;
using ::TCubeTiling;
using ::TopkTiling;
using ::UnPadTiling;
}  // namespace tiling
}  // namespace AscendC
