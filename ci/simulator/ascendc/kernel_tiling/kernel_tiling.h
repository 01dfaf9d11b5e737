// Tiling structures of the high-level API, which host tilings nest in their own. On the device
// they are plain data; field order and types are those of the host side.
#pragma once

#include <cstdint>

struct SoftMaxTiling {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t srcSize;
    uint32_t outMaxM;
    uint32_t outMaxK;
    uint32_t outMaxSize;
    uint32_t splitM;
    uint32_t splitK;
    uint32_t splitSize;
    uint32_t reduceM;
    uint32_t reduceK;
    uint32_t reduceSize;
    uint32_t rangeM;
    uint32_t tailM;
    uint32_t tailSplitSize;
    uint32_t tailReduceSize;
};

// The rows of LayerNorm and RmsNorm: how many, how far apart, and how many elements count.
struct LayerNormTiling {
    uint32_t bLength;
    uint32_t sLength;
    uint32_t hLength;
    uint32_t originalHLength;
};
struct LayerNormSeparateTiling {
    uint32_t aLength;
    uint32_t rLength;
};
struct RmsNormTiling {
    uint32_t bLength;
    uint32_t sLength;
    uint32_t hLength;
    uint32_t originalHLength;
};

// How a matrix product is cut: over cores, into L1 steps and base blocks.
struct alignas(8) TCubeTiling {
    int32_t usedCoreNum;
    int32_t M;
    int32_t N;
    int32_t Ka;
    int32_t Kb;
    int32_t singleCoreM;
    int32_t singleCoreN;
    int32_t singleCoreK;
    int32_t baseM;
    int32_t baseN;
    int32_t baseK;
    int32_t depthA1;
    int32_t depthB1;
    int32_t stepM;
    int32_t stepN;
    int32_t isBias;
    int32_t transLength;
    int32_t iterateOrder;
    int32_t shareMode;
    int32_t shareL1Size;
    int32_t shareL0CSize;
    int32_t shareUbSize;
    int32_t batchM;
    int32_t batchN;
    int32_t singleBatchM;
    int32_t singleBatchN;
    int32_t stepKa;
    int32_t stepKb;
    int32_t depthAL1CacheUB;
    int32_t depthBL1CacheUB;
    int32_t dbL0A;
    int32_t dbL0B;
    int32_t dbL0C;
    int32_t ALayoutInfoB;
    int32_t ALayoutInfoS;
    int32_t ALayoutInfoN;
    int32_t ALayoutInfoG;
    int32_t ALayoutInfoD;
    int32_t BLayoutInfoB;
    int32_t BLayoutInfoS;
    int32_t BLayoutInfoN;
    int32_t BLayoutInfoG;
    int32_t BLayoutInfoD;
    int32_t CLayoutInfoB;
    int32_t CLayoutInfoS1;
    int32_t CLayoutInfoN;
    int32_t CLayoutInfoG;
    int32_t CLayoutInfoS2;
    int32_t BatchNum;
    int32_t mxTypePara;
};
