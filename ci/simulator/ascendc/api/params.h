// Parameter structures of copies and vector instructions. Strides and gaps are in 32-byte blocks
// unless a comment says bytes.
#pragma once

#include "constants.h"
#include "fields.h"

namespace AscendC {

struct DataCopyParams {
    __aicore__ DataCopyParams() {}
    __aicore__ DataCopyParams(const FieldOf<uint16_t> count, const FieldOf<uint16_t> length,
                              const FieldOf<uint16_t> src_gap, const FieldOf<uint16_t> dst_gap)
        : blockCount(count), blockLen(length), srcStride(src_gap), dstStride(dst_gap) {}
    FieldOf<uint16_t> blockCount = 1;
    FieldOf<uint16_t> blockLen = 0;
    union {
        FieldOf<uint16_t> srcGap = 0;
        FieldOf<uint16_t> srcStride;
    };
    union {
        FieldOf<uint16_t> dstGap = 0;
        FieldOf<uint16_t> dstStride;
    };
};

// blockLen and the GM side's stride are in bytes, the UB side's stride in 32-byte blocks.
struct DataCopyExtParams {
    ASC_FIELDS(DataCopyExtParams, (uint16_t, blockCount, 1), (uint32_t, blockLen, 0),
               (uint32_t, srcStride, 0), (uint32_t, dstStride, 0), (uint32_t, rsv, 0))
};

struct DataCopyPadParams {
    ASC_FIELDS(DataCopyPadParams, (bool, isPad, false), (uint8_t, leftPadding, 0),
               (uint8_t, rightPadding, 0), (uint64_t, paddingValue, 0))
};

// The value is no field: any number of T is one.
template <typename T> struct DataCopyPadExtParams {
    __aicore__ constexpr DataCopyPadExtParams() {}
    __aicore__ constexpr DataCopyPadExtParams(const bool pad, const FieldOf<uint8_t> left,
                                              const FieldOf<uint8_t> right, const T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    bool isPad = false;
    FieldOf<uint8_t> leftPadding = 0;
    FieldOf<uint8_t> rightPadding = 0;
    T paddingValue = T(0);
};

struct DataCopyEnhancedParams {
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
    int padMode = 0;
    uint64_t padValue = 0;
    uint64_t deqTensorAddr = 0;
};

// Strided slices of a tensor: [startIndex, endIndex] in elements, stride in elements, burstLen in
// 32-byte blocks.
struct SliceInfo {
    __aicore__ SliceInfo() {}
    __aicore__ SliceInfo(const uint32_t start, const uint32_t end, const uint32_t gap,
                         const uint32_t burst, const uint32_t shape = 0)
        : startIndex(start), endIndex(end), stride(gap), burstLen(burst), shapeValue(shape) {}
    uint32_t startIndex = 0;
    uint32_t endIndex = ONE_BLK_SIZE - 1;
    uint32_t stride = 0;
    uint32_t burstLen = ONE_BLK_SIZE;
    uint32_t shapeValue = 0;
};

struct Nd2NzParams {
    ASC_FIELDS(Nd2NzParams, (uint16_t, ndNum, 0), (uint16_t, nValue, 0), (uint16_t, dValue, 0),
               (uint16_t, srcNdMatrixStride, 0), (uint16_t, srcDValue, 0),
               (uint16_t, dstNzC0Stride, 0), (uint16_t, dstNzNStride, 0),
               (uint16_t, dstNzMatrixStride, 0))
};

// Back again: 16 columns side by side, however wide an element is. srcNStride counts 16 elements,
// srcNdMatrixStride 256.
struct Nz2NdParamsFull {
    ASC_FIELDS(Nz2NdParamsFull, (uint16_t, ndNum, 0), (uint16_t, nValue, 0), (uint16_t, dValue, 0),
               (uint16_t, srcNdMatrixStride, 0), (uint16_t, srcNStride, 0),
               (uint16_t, dstDStride, 0), (uint16_t, dstNdMatrixStride, 0))
};

struct UnaryRepeatParams {
    ASC_FIELDS(UnaryRepeatParams, (uint16_t, dstBlkStride, DEFAULT_BLK_STRIDE),
               (uint16_t, srcBlkStride, DEFAULT_BLK_STRIDE),
               (uint8_t, dstRepStride, DEFAULT_REPEAT_STRIDE),
               (uint8_t, srcRepStride, DEFAULT_REPEAT_STRIDE))
    __aicore__ UnaryRepeatParams(const FieldOf<uint16_t> dst_block,
                                 const FieldOf<uint16_t> src_block,
                                 const FieldOf<uint8_t> dst_repeat,
                                 const FieldOf<uint8_t> src_repeat, const bool half_block)
        : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat),
          srcRepStride(src_repeat), halfBlock(half_block) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct BinaryRepeatParams {
    ASC_FIELDS(BinaryRepeatParams, (uint8_t, dstBlkStride, DEFAULT_BLK_STRIDE),
               (uint8_t, src0BlkStride, DEFAULT_BLK_STRIDE),
               (uint8_t, src1BlkStride, DEFAULT_BLK_STRIDE),
               (uint8_t, dstRepStride, DEFAULT_REPEAT_STRIDE),
               (uint8_t, src0RepStride, DEFAULT_REPEAT_STRIDE),
               (uint8_t, src1RepStride, DEFAULT_REPEAT_STRIDE))
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct CopyRepeatParams {
    ASC_FIELDS(CopyRepeatParams, (uint16_t, dstStride, 0), (uint16_t, srcStride, 0),
               (uint16_t, dstRepeatSize, DEFAULT_REPEAT_STRIDE),
               (uint16_t, srcRepeatSize, DEFAULT_REPEAT_STRIDE))
};

struct GatherMaskParams {
    ASC_FIELDS(GatherMaskParams, (uint8_t, src0BlockStride, DEFAULT_BLK_STRIDE),
               (uint16_t, repeatTimes, 0), (uint16_t, src0RepeatStride, DEFAULT_REPEAT_STRIDE),
               (uint8_t, src1RepeatStride, DEFAULT_REPEAT_STRIDE))
};

struct GatherRepeatParams {
    __aicore__ GatherRepeatParams() {}
    __aicore__ GatherRepeatParams(const FieldOf<uint8_t> dst_block,
                                  const FieldOf<uint8_t> dst_repeat)
        : dstRepStride(dst_repeat), dstBlkStride(dst_block) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    FieldOf<uint16_t> dstRepStride = DEFAULT_REPEAT_STRIDE;
    FieldOf<uint8_t> dstBlkStride = DEFAULT_BLK_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct BrcbRepeatParams {
    __aicore__ BrcbRepeatParams() {}
    __aicore__ BrcbRepeatParams(const FieldOf<uint16_t> dst_block,
                                const FieldOf<uint16_t> dst_repeat)
        : dstRepStride(dst_repeat), dstBlkStride(dst_block) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    FieldOf<uint16_t> dstRepStride = DEFAULT_REPEAT_STRIDE;
    FieldOf<uint16_t> dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct TransDataTo5HDParams {
    ASC_FIELDS(TransDataTo5HDParams, (bool, dstHighHalf, false), (bool, srcHighHalf, false),
               (uint8_t, repeatTimes, 1), (uint16_t, dstRepStride, 0), (uint16_t, srcRepStride, 0))
};

struct TransposeParamsExt {
    ASC_FIELDS(TransposeParamsExt, (uint16_t, nSize, 0), (uint16_t, cSize, 0), (uint16_t, hSize, 0),
               (uint16_t, wSize, 0),
               (TransposeType, transposeType, TransposeType::TRANSPOSE_ND2ND_B16))
};

struct MrgSort4Info {
    __aicore__ MrgSort4Info() {}
    __aicore__ MrgSort4Info(const uint16_t lengths[4], const bool suspend,
                            const FieldOf<uint16_t> valid, const FieldOf<uint16_t> repeats)
        : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(repeats) {
        for (int list = 0; list < 4; ++list) elementLengths[list] = lengths[list];
    }
    uint16_t elementLengths[4] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    FieldOf<uint8_t> repeatTimes = 1;
};

template <typename T> struct InitConstValueParams {
    __aicore__ constexpr InitConstValueParams() {}
    __aicore__ constexpr InitConstValueParams(const FieldOf<uint16_t> repeats,
                                              const FieldOf<uint16_t> blocks,
                                              const FieldOf<uint16_t> gap, const T value)
        : repeatTimes(repeats), blockNum(blocks), dstGap(gap), initValue(value) {}
    FieldOf<uint16_t> repeatTimes = 0;
    FieldOf<uint16_t> blockNum = 0;
    FieldOf<uint16_t> dstGap = 0;
    T initValue = T(0);
};

}  // namespace AscendC
