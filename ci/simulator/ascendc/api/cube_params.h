// Parameter structures of the cube core's API. Strides in units of 512-byte fractals, unless a
// comment says otherwise.
#pragma once

#include "params.h"

namespace AscendC {

struct LoadData2DParams {
    ASC_FIELDS(LoadData2DParams, (uint16_t, startIndex, 0), (uint8_t, repeatTimes, 0),
               (uint16_t, srcStride, 0), (uint8_t, sid, 0), (uint16_t, dstGap, 0),
               (bool, ifTranspose, false), (uint8_t, addrMode, 0))
};
using LoadData2dParams = LoadData2DParams;

// Of later chips: kernels for several name it.
struct LoadData2DParamsV2 {
    ASC_FIELDS(LoadData2DParamsV2, (uint32_t, mStartPosition, 0), (uint32_t, kStartPosition, 0),
               (uint16_t, mStep, 0), (uint16_t, kStep, 0), (int32_t, srcStride, 0),
               (uint16_t, dstStride, 0), (bool, ifTranspose, false), (uint8_t, sid, 0))
};

struct LoadData2dTransposeParams {
    __aicore__ LoadData2dTransposeParams() {}
    __aicore__ LoadData2dTransposeParams(const uint16_t start, const uint8_t repeats,
                                         const uint16_t src_stride, const uint16_t gap,
                                         const uint16_t fractal_gap, const uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(src_stride), dstGap(gap),
          dstFracGap(fractal_gap), addrMode(mode) {}
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};

struct IsResetLoad3dConfig {
    __aicore__ constexpr IsResetLoad3dConfig(const bool feature_map, const bool padding)
        : isSetFMatrix(feature_map), isSetPadding(padding) {}
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};
enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };
constexpr int32_t PAD_SIZE = 4;

template <typename T> struct LoadData3DParamsV2 {
    __aicore__ LoadData3DParamsV2() {}
    __aicore__ LoadData3DParamsV2(const uint8_t paddings[PAD_SIZE], const uint16_t height,
                                  const uint16_t width, const uint16_t channels,
                                  const uint16_t k_extension, const uint16_t m_extension,
                                  const uint16_t k_start, const uint16_t m_start,
                                  const uint8_t stride_w, const uint8_t stride_h,
                                  const uint8_t filter_w, const uint8_t filter_h,
                                  const uint8_t dilation_w, const uint8_t dilation_h,
                                  const bool transpose, const bool small_k, const T padding,
                                  const bool wide_w = false, const bool wide_h = false,
                                  const bool from_b = false)
        : l1H(height), l1W(width), channelSize(channels), kExtension(k_extension),
          mExtension(m_extension), kStartPt(k_start), mStartPt(m_start), strideW(stride_w),
          strideH(stride_h), filterW(filter_w), filterH(filter_h), dilationFilterW(dilation_w),
          dilationFilterH(dilation_h), enTranspose(transpose), enSmallK(small_k), padValue(padding),
          filterSizeW(wide_w), filterSizeH(wide_h), fMatrixCtrl(from_b) {
        for (int32_t i = 0; i < PAD_SIZE; ++i) padList[i] = paddings[i];
    }
    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = T(0);
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

// The same with its numbers packed into two words.
struct LoadData3DParamsV2Pro {
    ASC_FIELDS(LoadData3DParamsV2Pro, (uint16_t, channelSize, 0), (bool, enTranspose, false),
               (bool, enSmallK, false), (bool, filterSizeW, false), (bool, filterSizeH, false),
               (bool, fMatrixCtrl, false), (uint64_t, extConfig, 0),
               (uint64_t, filterConfig, 0x10101010101))
};

struct LoadDataRepeatParam {
    ASC_FIELDS(LoadDataRepeatParam, (uint16_t, repeatStride, 0), (uint8_t, repeatTime, 1),
               (uint8_t, repeatMode, 0))
    uint8_t reserved = 0;
};

struct MmadParams {
    ASC_FIELDS(MmadParams, (uint16_t, m, 0), (uint16_t, n, 0), (uint16_t, k, 0),
               (bool, isBias, false), (int32_t, fmOffset, 0), (bool, enSsparse, false),
               (bool, enWinogradA, false), (bool, enWinogradB, false))
    __aicore__ MmadParams(const uint16_t rows, const uint16_t columns, const uint16_t depth,
                          const uint8_t flag, const bool from_bias, const bool zero)
        : m(rows), n(columns), k(depth), unitFlag(flag), cmatrixSource(from_bias),
          cmatrixInitVal(zero) {}
    uint8_t unitFlag = 0;
    bool gemvCtrl = false;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
    __aicore__ constexpr FixpipeConfig(CO2Layout layout) : format(layout) {}
    __aicore__ constexpr FixpipeConfig(CO2Layout layout, bool to_ub)
        : format(layout), isToUB(to_ub) {}
    CO2Layout format;
    bool isToUB = false;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

// srcStride in rows of 16 elements; dstStride in elements (row major) or 32-byte blocks.
struct FixpipeParamsV220 {
    ASC_FIELDS(FixpipeParamsV220, (uint16_t, nSize, 0), (uint16_t, mSize, 0),
               (uint16_t, srcStride, 0), (uint32_t, dstStride, 0), (bool, reluEn, false))
    __aicore__ FixpipeParamsV220(const uint16_t n, const uint16_t m, const uint16_t src_stride,
                                 const uint32_t dst_stride, const bool relu,
                                 const QuantMode_t quantize, const int64_t scalar,
                                 const uint16_t matrices, const uint16_t src_step,
                                 const uint16_t dst_step, const uint8_t flag,
                                 const bool split = false)
        : nSize(n), mSize(m), srcStride(src_stride), dstStride(dst_stride), reluEn(relu),
          quantPre(quantize), deqScalar(scalar), ndNum(matrices), srcNdStride(src_step),
          dstNdStride(dst_step), unitFlag(flag), isChannelSplit(split) {}
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};
using FixpipeParamsM300 = FixpipeParamsV220;

struct QuantParams {
    __aicore__ QuantParams() {}
    __aicore__ QuantParams(const QuantMode_t mode) : quantPre(mode) {}
    __aicore__ QuantParams(const QuantMode_t mode, const uint64_t scalar)
        : quantPre(mode), deqScalar(scalar) {}
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
};
struct Nz2NdParams {
    ASC_FIELDS(Nz2NdParams, (bool, nz2ndEn, false), (uint16_t, ndNum, 1),
               (uint16_t, srcNdStride, 0), (uint16_t, dstNdStride, 0), (uint16_t, originalNSize, 0))
};
// The older form: bursts of fractal columns. srcStride is a gap in fractals, dstStride a gap in
// 32-byte blocks or, row major, the elements of a row.
template <typename T = int32_t> struct FixpipeParams {
    ASC_FIELDS(FixpipeParams, (uint16_t, cburstNum, 1), (uint16_t, burstLen, 1),
               (uint16_t, srcStride, 0), (uint32_t, dstStride, 0))
    QuantParams quantParams;
    bool reluEn = false;
    Nz2NdParams nz2ndParams;
    uint8_t unitFlag = 0;
};

struct DataCopyCO12DstParams {
    ASC_FIELDS(DataCopyCO12DstParams, (uint16_t, nSize, 0), (uint16_t, mSize, 0),
               (uint32_t, dstStride, 0), (uint16_t, srcStride, 0),
               (QuantMode_t, quantPre, QuantMode_t::NoQuant), (uint8_t, reluPre, 0),
               (bool, channelSplit, false), (bool, nz2ndEn, false))
    uint8_t sid = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
};

enum class HF32Mode : uint8_t { DISABLE = 0, ENABLE };
enum class HF32TransMode : uint8_t { NEAREST_EVEN = 0, NEAREST_ZERO };

}  // namespace AscendC
