// The cube core's basic API: into L1 and L0, the product, out through the fixpipe.
#pragma once

#include "cube_params.h"
#include "data_copy.h"

namespace AscendC {

template <typename T> __aicore__ inline Hardware memory_of(const LocalTensor<T>& tensor) {
    return GetPhyType(TPosition(tensor.GetPosition()));
}
// 16-bit integers travel as half: only their bits matter.
template <typename T>
using LoadType = typename Conditional<SupportType<T, int16_t, uint16_t>(), half, T>::type;

// ---- fractals
template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData2DParams& p) {
    if (p.addrMode != 0) dav_fail("LoadData from L1 goes upwards: addrMode must be 0.");
    using U = LoadType<T>;
    U* to = reinterpret_cast<U*>(dst.pointer());
    U* from = reinterpret_cast<U*>(src.pointer());
#define ASC_LOAD(instruction, transpose) \
    instruction(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, transpose, inc)
    if constexpr (IsSameType<T, int4b_t>::value) {
        if (memory_of(dst) == Hardware::L0A) {
            ASC_LOAD(load_cbuf_to_ca_s4, false);
        } else {
            ASC_LOAD(load_cbuf_to_cb_s4, false);
        }
    } else if (memory_of(dst) == Hardware::L0A) {
        ASC_LOAD(load_cbuf_to_ca, p.ifTranspose);
    } else {
        ASC_LOAD(load_cbuf_to_cb, p.ifTranspose);
    }
#undef ASC_LOAD
}
template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const LoadData2DParams& p) {
    using U = LoadType<T>;
    U* to = reinterpret_cast<U*>(dst.pointer());
    U* from = reinterpret_cast<U*>(src.address_);
    const addr_cal_mode_t mode = p.addrMode == 0 ? inc : dec;
    src.announce_read();
#define ASC_LOAD(instruction) \
    instruction(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, mode)
    switch (memory_of(dst)) {
        case Hardware::L0A: ASC_LOAD(load_gm_to_ca); break;
        case Hardware::L0B: ASC_LOAD(load_gm_to_cb); break;
        default: ASC_LOAD(load_gm_to_cbuf);
    }
#undef ASC_LOAD
}
template <typename T, class Source>
__aicore__ inline void LoadData(const LocalTensor<T>&, const Source&, const LoadData2DParamsV2&) {
    dav_fail("LoadData with LoadData2DParamsV2 is a call of later chips; the 910B lacks it.");
}
template <typename T>
__aicore__ inline void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                             const LoadData2dTransposeParams& p) {
    const addr_cal_mode_t mode = p.addrMode == 0 ? inc : dec;
#define ASC_LOAD(instruction)                                                                     \
    instruction(dst.pointer(), src.pointer(), p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, \
                mode, p.dstFracGap)
    if constexpr (IsSameType<T, int4b_t>::value) {
        ASC_LOAD(load_cbuf_to_cb_transpose_s4);
    } else if (memory_of(dst) == Hardware::L0A) {
        ASC_LOAD(load_cbuf_to_ca_transpose);
    } else {
        ASC_LOAD(load_cbuf_to_cb_transpose);
    }
#undef ASC_LOAD
}

// ---- image to column
__aicore__ inline void SetFmatrix(uint16_t height, uint16_t width, const uint8_t paddings[4],
                                  const FmatrixMode& mode) {
    uint64_t config = uint64_t(width) | (uint64_t(height) << 16);
    for (int i = 0; i < 4; ++i) config |= uint64_t(paddings[i]) << (32 + 8 * i);
    if (mode == FmatrixMode::FMATRIX_LEFT) {
        set_fmatrix(config);
    } else {
        set_fmatrix_b(config);
    }
}
__aicore__ inline void Load3DSetFMatrixCal(uint16_t height, uint16_t width,
                                           const uint8_t paddings[4]) {
    SetFmatrix(height, width, paddings, FmatrixMode::FMATRIX_LEFT);
}
__aicore__ inline void Load3DSetFMatrixBCal(uint16_t height, uint16_t width,
                                            const uint8_t paddings[4]) {
    SetFmatrix(height, width, paddings, FmatrixMode::FMATRIX_RIGHT);
}
template <typename T> __aicore__ inline void SetLoadDataPaddingValue(const T value) {
    if constexpr (sizeof(T) == 1) {
        set_padding((uint64_t(uint8_t(value)) << 8) | uint8_t(value));
    } else {
        set_padding(uint64_t(GetScalarBitcodeValue(value)));
    }
}
template <typename T> __aicore__ inline void Load3DSetPaddingCal(const T value) {
    SetLoadDataPaddingValue(value);
}
__aicore__ inline void SetLoadDataBoundary(uint32_t bytes) { set_l1_3d_size(bytes); }
__aicore__ inline void SetLoadDataRepeat(const LoadDataRepeatParam& p) {
    set_l3d_rpt(uint64_t(p.repeatStride) | (uint64_t(p.repeatTime) << 16) |
                (uint64_t(p.repeatMode) << 24));
}
template <typename T, typename S>
__aicore__ inline void image_to_column(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                       const LoadData3DParamsV2<S>& p) {
    using U = LoadType<T>;
    U* to = reinterpret_cast<U*>(dst.pointer());
    U* from = reinterpret_cast<U*>(src.pointer());
#define ASC_LOAD(instruction)                                                            \
    instruction(to, from, p.kExtension, p.mExtension, p.kStartPt, p.mStartPt, p.strideW, \
                p.strideH, p.filterW, p.filterH, p.dilationFilterW, p.dilationFilterH,   \
                p.filterSizeW, p.filterSizeH, p.enTranspose, p.fMatrixCtrl, p.channelSize)
    if (memory_of(dst) == Hardware::L0A) {
        ASC_LOAD(img2colv2_cbuf_to_ca);
    } else {
        ASC_LOAD(img2colv2_cbuf_to_cb);
    }
#undef ASC_LOAD
}
template <typename T, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename S = T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData3DParamsV2<S>& params) {
    if constexpr (config.isSetFMatrix) {
        SetFmatrix(params.l1H, params.l1W, params.padList,
                   params.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
    }
    if constexpr (config.isSetPadding) SetLoadDataPaddingValue(params.padValue);
    image_to_column(dst, src, params);
}
template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData3DParamsV2Pro& packed) {
    LoadData3DParamsV2<T> p;
    p.kExtension = uint16_t(packed.extConfig);
    p.mExtension = uint16_t(packed.extConfig >> 16);
    p.kStartPt = uint16_t(packed.extConfig >> 32);
    p.mStartPt = uint16_t(packed.extConfig >> 48);
    p.strideW = uint8_t(packed.filterConfig);
    p.strideH = uint8_t(packed.filterConfig >> 8);
    p.filterW = uint8_t(packed.filterConfig >> 16);
    p.filterH = uint8_t(packed.filterConfig >> 24);
    p.dilationFilterW = uint8_t(packed.filterConfig >> 32);
    p.dilationFilterH = uint8_t(packed.filterConfig >> 40);
    p.filterSizeW = packed.filterSizeW;
    p.filterSizeH = packed.filterSizeH;
    p.enTranspose = packed.enTranspose;
    p.fMatrixCtrl = packed.fMatrixCtrl;
    p.channelSize = packed.channelSize;
    image_to_column(dst, src, p);
}
// Under the name that kernels for convolutions call it by.
template <typename T>
__aicore__ inline void LoadDataImpl(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                    const LoadData3DParamsV2Pro& packed) {
    LoadData(dst, src, packed);
}

// ---- fills
template <typename T, typename S = T>
__aicore__ inline void InitConstValue(const LocalTensor<T>& dst,
                                      const InitConstValueParams<S>& params) {
    const int64_t config = int64_t(params.repeatTimes) | (int64_t(params.blockNum) << 16) |
                           (int64_t(params.dstGap) << 32);
    static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                  "InitConstValue takes elements of 2 or 4 bytes");
    typename Conditional<sizeof(T) == 2, half, uint32_t>::type bits;
    __builtin_memcpy(&bits, &params.initValue, sizeof(bits));
    switch (memory_of(dst)) {
        case Hardware::L0A: create_ca_matrix(dst.pointer(), config, bits); break;
        case Hardware::L0B: create_cb_matrix(dst.pointer(), config, bits); break;
        default: create_cbuf_matrix(dst.pointer(), config, bits);
    }
}
template <typename T, typename S = T>
__aicore__ inline void Fill(const LocalTensor<T>& dst, const InitConstValueParams<S>& params) {
    InitConstValue(dst, params);
}

// ---- the product
constexpr int32_t MOST_LENGTH = 4095;
constexpr int32_t MOST_NZ = 16384;
constexpr const char* MMAD_LENGTHS = "Mmad takes m, k and n up to 4095.";
// Refuses forms of the product that are not modelled.
__aicore__ inline void check_product(const MmadParams& p) {
    if (p.fmOffset != 0 || p.enSsparse || p.enWinogradA || p.enWinogradB) {
        dav_fail(
            "Mmad with an offset of the feature map, a sparse A or a Winograd form is not "
            "modelled.");
    }
}
template <typename TC, typename TA, typename TB>
__aicore__ inline void MmadImpl(const LocalTensor<TC>& dst, const LocalTensor<TA>& a,
                                const LocalTensor<TB>& b, const MmadParams& p) {
    ASC_LIMIT(p.m <= MOST_LENGTH && p.k <= MOST_LENGTH && p.n <= MOST_LENGTH, MMAD_LENGTHS);
    check_product(p);
    const bool zero = p.cmatrixInitVal && !p.isBias;
    if constexpr (IsSameType<TA, int4b_t>::value) {
        mad_s4(dst.pointer(), a.pointer(), b.pointer(), p.m, p.k, p.n, p.unitFlag,
               p.kDirectionAlign, p.cmatrixSource, zero);
    } else {
        mad(dst.pointer(), a.pointer(), b.pointer(), p.m, p.k, p.n, p.unitFlag, p.kDirectionAlign,
            p.cmatrixSource, zero);
    }
}
template <typename TC, typename TA, typename TB>
__aicore__ inline void Mmad(const LocalTensor<TC>& dst, const LocalTensor<TA>& a,
                            const LocalTensor<TB>& b, const MmadParams& params) {
    MmadImpl(dst, a, b, params);
}
template <typename TC, typename TA, typename TB, typename TBias>
__aicore__ inline void Mmad(const LocalTensor<TC>& dst, const LocalTensor<TA>& a,
                            const LocalTensor<TB>& b, const LocalTensor<TBias>& bias,
                            const MmadParams& p) {
    ASC_LIMIT(p.m <= MOST_LENGTH && p.k <= MOST_LENGTH && p.n <= MOST_LENGTH, MMAD_LENGTHS);
    check_product(p);
    const bool from_table = memory_of(bias) == Hardware::BIAS;
    mad(dst.pointer(), a.pointer(), b.pointer(), bias.GetPhyAddr(), p.m, p.k, p.n, p.unitFlag,
        p.kDirectionAlign, from_table, false);
}
// A product with half of B's values left out, two of every four along k.
__aicore__ inline void MmadWithSparse(const LocalTensor<int32_t>& dst, const LocalTensor<int8_t>& a,
                                      const LocalTensor<int8_t>& b, const MmadParams& p) {
    ASC_LIMIT(p.m <= MOST_LENGTH && p.k <= MOST_LENGTH && p.n <= MOST_LENGTH, MMAD_LENGTHS);
    mad_sp(dst.pointer(), a.pointer(), b.pointer(), p.m, p.k, p.n, p.unitFlag, p.cmatrixSource,
           p.cmatrixInitVal);
}
template <typename T = int8_t, typename U = uint8_t>
__aicore__ inline void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                          const LocalTensor<U>& indices,
                                          const LoadData2DParams& p) {
    static_assert(sizeof(T) == 1 && sizeof(U) == 1, "Sparse values and their indices are bytes");
    const uint64_t both = (src.GetPhyAddr() & 0xffffffff) | indices.GetPhyAddr() << 32;
    load_cbuf_to_cb_sp(dst.pointer(), reinterpret_cast<int8_t*>(both), p.startIndex, p.repeatTimes);
}
__aicore__ inline void SetHF32Mode(bool on) {
    set_ctrl(on ? sbitset1(get_ctrl(), 46) : sbitset0(get_ctrl(), 46));
}
__aicore__ inline void SetHF32Mode(HF32Mode mode) { SetHF32Mode(mode == HF32Mode::ENABLE); }
__aicore__ inline void SetHF32TransMode(bool to_zero) {
    set_ctrl(to_zero ? sbitset1(get_ctrl(), 47) : sbitset0(get_ctrl(), 47));
}
__aicore__ inline void SetHF32TransMode(HF32TransMode mode) {
    SetHF32TransMode(mode == HF32TransMode::NEAREST_ZERO);
}
// The order in which C comes about: no instruction's result depends on it.
__aicore__ inline void SetMMLayoutTransform(bool) { dav_scalar(1); }
__aicore__ inline void SetMMRowMajor() { dav_scalar(1); }
__aicore__ inline void SetMMColumnMajor() { dav_scalar(1); }

// ---- out of L0C
template <typename T>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>& relu, const LocalTensor<T>& quantize,
                                        bool unit_flag = false) {
    const uint64_t base = base_of(Hardware::FIXBUF);
    set_fpc(((relu.GetPhyAddr() - base) >> 6) | (((quantize.GetPhyAddr() - base) >> 7) << 8) |
            (uint64_t(unit_flag) << 63));
}
template <typename T, bool setRelu = false>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>& parameters, bool unit_flag = false) {
    const uint64_t offset = parameters.GetPhyAddr() - base_of(Hardware::FIXBUF);
    set_fpc((setRelu ? offset >> 6 : (offset >> 7) << 8) | (uint64_t(unit_flag) << 63));
}
__aicore__ inline void SetFixpipeNz2ndFlag(uint16_t matrices, uint16_t src_step,
                                           uint16_t dst_step) {
    set_nd_para(uint64_t(matrices) | (uint64_t(src_step) << 16) | (uint64_t(dst_step) << 32));
}
__aicore__ inline void SetNdParaImpl(uint64_t config) { set_nd_para(config); }
__aicore__ inline void SetFixpipePreQuantFlag(uint64_t parameter) { set_quant_pre(parameter); }

// Where the fixpipe's parameters by column go, and how many of them at a time.
constexpr uint32_t FIXPIPE_COLUMNS = 256;

template <typename T, typename S, typename Out, bool row_major>
__aicore__ inline void fixpipe_parts(T* dst, S* src, const FixpipeParamsV220& p,
                                     uint64_t* parameters, Out out) {
    if (row_major) SetFixpipeNz2ndFlag(p.ndNum, p.srcNdStride, p.dstNdStride);
    const bool by_scalar = p.quantPre == QuantMode_t::DEQF16 || p.quantPre == QuantMode_t::REQ8 ||
                           p.quantPre == QuantMode_t::QF322B8_PRE;
    if (by_scalar) set_quant_pre(p.deqScalar);
    if (parameters == nullptr) {
        pipe_barrier(PIPE_FIX);
        out(dst, src, p.nSize);
        return;
    }
    // Parameters by column: the buffer takes a part of the columns.
    for (uint32_t first = 0; first < p.nSize; first += FIXPIPE_COLUMNS) {
        const uint32_t columns =
            p.nSize - first < FIXPIPE_COLUMNS ? p.nSize - first : FIXPIPE_COLUMNS;
        copy_cbuf_to_fbuf(reinterpret_cast<void*>(base_of(Hardware::FIXBUF)), parameters + first, 1,
                          uint16_t((columns * sizeof(uint64_t) + 127) / 128), 0, 0);
        set_fpc(0);
        pipe_barrier(PIPE_FIX);
        const uint64_t step =
            row_major ? first
                      : uint64_t(first / BLOCK_CUBE) * p.dstStride * ONE_BLK_SIZE / sizeof(T);
        out(dst + step, src + uint64_t(first) * p.srcStride, uint16_t(columns));
    }
}
template <const FixpipeConfig& config, typename T, typename S>
__aicore__ inline void fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src,
                               uint64_t* parameters, const FixpipeParamsV220& p) {
    static_assert(!config.isToUB, "The 910B's fixpipe does not reach the unified buffer");
    constexpr bool row_major = config.format == CO2Layout::ROW_MAJOR;
    const auto out = [&](T* to, S* from, uint16_t columns) {
        dst.announce_write();
        copy_matrix_cc_to_gm(to, from, 0, columns, p.mSize, p.dstStride, p.srcStride, p.unitFlag,
                             p.quantPre, uint8_t(p.reluEn), p.isChannelSplit, row_major);
    };
    fixpipe_parts<T, S, decltype(out), row_major>(dst.address_, src.pointer(), p, parameters, out);
}
template <const FixpipeConfig& config, typename T, typename S>
__aicore__ inline void fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src,
                               uint64_t* parameters, const FixpipeParamsV220& p) {
    static_assert(!config.isToUB, "The 910B's fixpipe does not reach the unified buffer");
    constexpr bool row_major = config.format == CO2Layout::ROW_MAJOR;
    const auto out = [&](T* to, S* from, uint16_t columns) {
        copy_matrix_cc_to_cbuf(to, from, 0, columns, p.mSize, p.dstStride, p.srcStride, p.unitFlag,
                               p.quantPre, uint8_t(p.reluEn), p.isChannelSplit, row_major);
    };
    fixpipe_parts<T, S, decltype(out), row_major>(dst.pointer(), src.pointer(), p, parameters, out);
}
// To global memory or to L1, each with and without parameters by column.
#define ASC_FIXPIPE(Tensor)                                                         \
    template <typename T, typename S, const FixpipeConfig& config = CFG_ROW_MAJOR>  \
    __aicore__ inline void Fixpipe(const Tensor<T>& dst, const LocalTensor<S>& src, \
                                   const FixpipeParamsV220& params) {               \
        fixpipe<config>(dst, src, nullptr, params);                                 \
    }                                                                               \
    template <typename T, typename S, const FixpipeConfig& config = CFG_ROW_MAJOR>  \
    __aicore__ inline void Fixpipe(const Tensor<T>& dst, const LocalTensor<S>& src, \
                                   const LocalTensor<uint64_t>& parameters,         \
                                   const FixpipeParamsV220& params) {               \
        fixpipe<config>(dst, src, parameters.pointer(), params);                    \
    }
ASC_FIXPIPE(GlobalTensor)
ASC_FIXPIPE(LocalTensor)
#undef ASC_FIXPIPE
// The older form of the parameters, as the newer.
template <typename T, typename S>
__aicore__ inline FixpipeParamsV220 newer_form(const FixpipeParams<S>& old) {
    FixpipeParamsV220 p;
    const uint32_t rows = old.burstLen * ONE_BLK_SIZE / sizeof(float) / BLOCK_CUBE;
    p.mSize = uint16_t(rows);
    p.nSize = uint16_t(old.nz2ndParams.nz2ndEn ? old.nz2ndParams.originalNSize
                                               : old.cburstNum * BLOCK_CUBE);
    p.srcStride =
        uint16_t(old.srcStride * BLOCK_CUBE + (rows + BLOCK_CUBE - 1) / BLOCK_CUBE * BLOCK_CUBE);
    p.dstStride = old.nz2ndParams.nz2ndEn ? old.dstStride
                                          : old.dstStride + old.burstLen * uint32_t(sizeof(T)) / 4;
    p.quantPre = old.quantParams.quantPre;
    p.deqScalar = old.quantParams.deqScalar;
    p.ndNum = old.nz2ndParams.ndNum;
    p.srcNdStride = old.nz2ndParams.srcNdStride;
    p.dstNdStride = old.nz2ndParams.dstNdStride;
    p.reluEn = old.reluEn;
    p.unitFlag = old.unitFlag;
    return p;
}
template <typename T, typename S, typename P>
__aicore__ inline void fixpipe_older(const GlobalTensor<T>& dst, const LocalTensor<S>& src,
                                     uint64_t* parameters, const FixpipeParams<P>& params) {
    if (params.nz2ndParams.nz2ndEn) {
        fixpipe<CFG_ROW_MAJOR>(dst, src, parameters, newer_form<T>(params));
    } else {
        fixpipe<CFG_NZ>(dst, src, parameters, newer_form<T>(params));
    }
}
template <typename T, typename S, typename P>
__aicore__ inline void fixpipe_older(const LocalTensor<T>& dst, const LocalTensor<S>& src,
                                     uint64_t* parameters, const FixpipeParams<P>& params) {
    fixpipe<CFG_NZ>(dst, src, parameters, newer_form<T>(params));
}
#define ASC_FIXPIPE(Tensor)                                                         \
    template <typename T, typename S, typename P>                                   \
    __aicore__ inline void Fixpipe(const Tensor<T>& dst, const LocalTensor<S>& src, \
                                   const FixpipeParams<P>& params) {                \
        fixpipe_older(dst, src, nullptr, params);                                   \
    }                                                                               \
    template <typename T, typename S, typename P>                                   \
    __aicore__ inline void Fixpipe(const Tensor<T>& dst, const LocalTensor<S>& src, \
                                   const LocalTensor<uint64_t>& parameters,         \
                                   const FixpipeParams<P>& params) {                \
        fixpipe_older(dst, src, parameters.pointer(), params);                      \
    }
ASC_FIXPIPE(GlobalTensor)
ASC_FIXPIPE(LocalTensor)
#undef ASC_FIXPIPE
__aicore__ inline void check_fixpipe(const DataCopyCO12DstParams& p) {
    if (p.clipReluPre != 0 || p.eltWiseOp != 0) {
        dav_fail(
            "A copy out of L0C with a clipped ReLU or an elementwise operation is not modelled.");
    }
}
template <typename T, typename S>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<S>& src,
                                const DataCopyCO12DstParams& p) {
    check_fixpipe(p);
    dst.announce_write();
    copy_matrix_cc_to_gm(dst.address_, src.pointer(), p.sid, p.nSize, p.mSize, p.dstStride,
                         p.srcStride, p.unitFlag, p.quantPre, p.reluPre, p.channelSplit, p.nz2ndEn);
}
template <typename T, typename S>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<S>& src,
                                const DataCopyCO12DstParams& p) {
    check_fixpipe(p);
    copy_matrix_cc_to_cbuf(dst.pointer(), src.pointer(), p.sid, p.nSize, p.mSize, p.dstStride,
                           p.srcStride, p.unitFlag, p.quantPre, p.reluPre, p.channelSplit,
                           p.nz2ndEn);
}

// ---- into L1, and from there into the small tables
// Into UB no instruction turns a matrix: each 32 bytes of columns are a copy of many short bursts,
// whose last bytes are zero.
template <typename T>
__aicore__ inline void nd_to_nz_of_ub(T* dst, __gm__ T* src, const Nd2NzParams& p) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t most = 4095;  // bursts of a copy
    set_mov_pad_val(0);
    for (uint32_t nd = 0; nd < p.ndNum; ++nd) {
        for (uint32_t column = 0; column < p.dValue; column += block) {
            const uint32_t elements = p.dValue - column < block ? p.dValue - column : block;
            const uint32_t bytes = elements * uint32_t(sizeof(T));
            for (uint32_t row = 0; row < p.nValue; row += most) {
                const uint32_t rows = p.nValue - row < most ? p.nValue - row : most;
                T* to =
                    dst + uint64_t(nd) * p.dstNzMatrixStride +
                    (uint64_t(column / block) * p.dstNzC0Stride + uint64_t(row) * p.dstNzNStride) *
                        block;
                __gm__ T* from =
                    src + uint64_t(nd) * p.srcNdMatrixStride + uint64_t(row) * p.srcDValue + column;
                copy_in_aligned(to, from, uint16_t(rows), bytes, 0, uint8_t(block - elements),
                                p.srcDValue * uint32_t(sizeof(T)) - bytes, p.dstNzNStride - 1);
            }
        }
    }
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const Nd2NzParams& p) {
    ASC_LIMIT(p.ndNum <= MOST_LENGTH && p.nValue <= MOST_NZ && p.dstNzC0Stride <= MOST_NZ &&
                  p.dstNzNStride <= MOST_NZ,
              "A copy from ND to NZ takes 4095 matrices of 16384 rows, and strides up to 16384.");
    src.announce_read();
    if (memory_of(dst) == Hardware::UB) {
        nd_to_nz_of_ub(dst.pointer(), src.address_, p);
        return;
    }
    if (memory_of(dst) != Hardware::L1) {
        dav_fail("A copy from ND to NZ goes to L1 or to the unified buffer.");
    }
    using U = BitsType<T>;
    U* to = reinterpret_cast<U*>(dst.pointer());
    U* from = reinterpret_cast<U*>(src.address_);
#define ASC_COPY(instruction)                                                               \
    instruction(to, from, 0, p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride, p.srcDValue, \
                p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride)
    if constexpr (sizeof(T) == 1) {
        ASC_COPY(copy_gm_to_cbuf_multi_nd2nz_b8);
    } else if constexpr (sizeof(T) == 2) {
        ASC_COPY(copy_gm_to_cbuf_multi_nd2nz_b16);
    } else {
        ASC_COPY(copy_gm_to_cbuf_multi_nd2nz_b32s);
    }
#undef ASC_COPY
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>&, const LocalTensor<T>&, const Nd2NzParams&) {
    dav_fail(
        "A copy from ND to NZ starts in global memory; from the unified buffer ours has none.");
}
template <typename T, typename U>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyParams& p) {
    const uint16_t converts = sizeof(T) != sizeof(U);
    copy_cbuf_to_bt(dst.GetPhyAddr(), src.pointer(), converts, p.blockCount, p.blockLen,
                    p.srcStride, p.dstStride);
}

}  // namespace AscendC
