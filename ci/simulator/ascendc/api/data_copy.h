// Copies between global memory and the unified buffer, and atomics on the way out.
#pragma once

#include "vector_fill.h"

namespace AscendC {

template <typename T> __aicore__ inline constexpr uint32_t bytes_of_elements(uint32_t elements) {
    return IsSameType<T, int4b_t>::value ? elements / 2 : elements * uint32_t(sizeof(T));
}

// ---- whole 32-byte blocks
template <typename T>
__aicore__ inline void DataCopyGM2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& p) {
    copy_gm_to_ubuf((__ubuf__ void*)dst, (__gm__ void*)src, 0, p.blockCount, p.blockLen,
                    p.srcStride, p.dstStride);
}
template <typename T>
__aicore__ inline void DataCopyUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& p) {
    copy_ubuf_to_gm((__gm__ void*)dst, (__ubuf__ void*)src, 0, p.blockCount, p.blockLen,
                    p.srcStride, p.dstStride);
}
template <typename T>
__aicore__ inline void DataCopyUB2UBImpl(__ubuf__ T* dst, __ubuf__ T* src,
                                         const DataCopyParams& p) {
    copy_ubuf_to_ubuf((__ubuf__ void*)dst, (__ubuf__ void*)src, 0, p.blockCount, p.blockLen,
                      p.srcStride, p.dstStride);
}
// The end of a copy to or from global memory that is on the core.
template <typename T> __aicore__ inline void check_local_end(const LocalTensor<T>& local) {
    const Hardware memory = GetPhyType(TPosition(local.GetPosition()));
    if (memory != Hardware::UB && memory != Hardware::L1) {
        dav_fail("DataCopy moves between global memory and the unified buffer or L1.");
    }
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& params) {
    src.announce_read();
    check_local_end(dst);
    if (GetPhyType(TPosition(dst.GetPosition())) == Hardware::L1) {
        copy_gm_to_cbuf(dst.pointer(), (__gm__ void*)src.address_, 0, params.blockCount,
                        params.blockLen, params.srcStride, params.dstStride, PAD_NONE);
        return;
    }
    DataCopyGM2UBImpl(dst.pointer(), src.address_, params);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& params) {
    dst.announce_write();
    check_local_end(src);
    if (GetPhyType(TPosition(src.GetPosition())) == Hardware::L1) {
        copy_cbuf_to_gm((__gm__ void*)dst.address_, src.pointer(), 0, params.blockCount,
                        params.blockLen, params.srcStride, params.dstStride);
        return;
    }
    DataCopyUB2GMImpl(dst.address_, src.pointer(), params);
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& params) {
    switch (GetPhyType(TPosition(dst.GetPosition()))) {
        case Hardware::BIAS:
            copy_cbuf_to_bt(dst.GetPhyAddr(), src.pointer(), 0, params.blockCount, params.blockLen,
                            params.srcStride, params.dstStride);
            break;
        case Hardware::FIXBUF:
            copy_cbuf_to_fbuf(dst.pointer(), src.pointer(), params.blockCount, params.blockLen,
                              params.srcStride, params.dstStride);
            break;
        case Hardware::UB:
            if (GetPhyType(TPosition(src.GetPosition())) == Hardware::UB) {
                DataCopyUB2UBImpl(dst.pointer(), src.pointer(), params);
                break;
            }
            [[fallthrough]];
        default:
            dav_fail(
                "DataCopy on one core moves within the unified buffer, or from L1 to the tables of "
                "the bias and of the fixpipe.");
    }
}
#define COPY_COUNT                                                                         \
    "DataCopy moves whole blocks of 32 bytes: what is left of its elements is not moved. " \
    "DataCopyPad moves any number.",                                                       \
        "part_block"
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const uint32_t count) {
    ASC_LIMIT(bytes_of_elements<T>(count) % ONE_BLK_SIZE == 0, COPY_COUNT);
    DataCopy(dst, src,
             DataCopyParams(1, uint16_t(bytes_of_elements<T>(count) / ONE_BLK_SIZE), 0, 0));
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const uint32_t count) {
    ASC_LIMIT(bytes_of_elements<T>(count) % ONE_BLK_SIZE == 0, COPY_COUNT);
    DataCopy(dst, src,
             DataCopyParams(1, uint16_t(bytes_of_elements<T>(count) / ONE_BLK_SIZE), 0, 0));
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const uint32_t count) {
    // The small tables count lengths in 64 and 128 bytes.
    const Hardware memory = GetPhyType(TPosition(dst.GetPosition()));
    const uint32_t unit = memory == Hardware::BIAS     ? 2 * ONE_BLK_SIZE
                          : memory == Hardware::FIXBUF ? 4 * ONE_BLK_SIZE
                                                       : ONE_BLK_SIZE;
    ASC_LIMIT(bytes_of_elements<T>(count) % unit == 0, COPY_COUNT);
    DataCopy(dst, src, DataCopyParams(1, uint16_t(bytes_of_elements<T>(count) / unit), 0, 0));
}
// The enhancements (ReLU, quantisation on the way) exist only on the paths of the cube core, for
// which there are other calls.
__aicore__ inline void check_enhancements(const DataCopyEnhancedParams& p) {
    if (p.deqScale != DeqScale::DEQ_NONE || p.isRelu || p.sidStoreMode != 0 || p.padMode != 0) {
        dav_fail(
            "DataCopy of a vector core moves data as they are: DataCopyEnhancedParams may ask for "
            "no ReLU, quantisation or padding.");
    }
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& params,
                                const DataCopyEnhancedParams& enhanced) {
    check_enhancements(enhanced);
    DataCopy(dst, src, params);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& params,
                                const DataCopyEnhancedParams& enhanced) {
    check_enhancements(enhanced);
    DataCopy(dst, src, params);
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& params,
                                const DataCopyEnhancedParams& enhanced) {
    check_enhancements(enhanced);
    DataCopy(dst, src, params);
}

// ---- any number of bytes
template <typename T>
__aicore__ inline void copy_in_aligned(T* dst, __gm__ T* src, uint16_t bursts, uint32_t bytes,
                                       uint8_t left, uint8_t right, uint32_t src_gap,
                                       uint32_t dst_gap) {
    static_assert(sizeof(T) <= 8, "DataCopyPad takes elements of 1 to 8 bytes");
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_ubuf_align_b8(dst, src, 0, bursts, bytes, left, right, src_gap, dst_gap);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_ubuf_align_b16(dst, src, 0, bursts, bytes, left, right, src_gap, dst_gap);
    } else if constexpr (sizeof(T) == 4) {
        copy_gm_to_ubuf_align_b32(dst, src, 0, bursts, bytes, left, right, src_gap, dst_gap);
    } else {
        copy_gm_to_ubuf_align_b32(dst, src, 0, bursts, bytes, uint8_t(left * 2), uint8_t(right * 2),
                                  src_gap, dst_gap);
    }
}
template <typename T>
__aicore__ inline void copy_out_aligned(__gm__ T* dst, T* src, uint16_t bursts, uint32_t bytes,
                                        uint32_t src_gap, uint32_t dst_gap) {
    static_assert(sizeof(T) <= 8, "DataCopyPad takes elements of 1 to 8 bytes");
    if constexpr (sizeof(T) == 1) {
        copy_ubuf_to_gm_align_b8(dst, src, 0, bursts, bytes, 0, 0, src_gap, dst_gap);
    } else if constexpr (sizeof(T) == 2) {
        copy_ubuf_to_gm_align_b16(dst, src, 0, bursts, bytes, 0, 0, src_gap, dst_gap);
    } else {
        copy_ubuf_to_gm_align_b32(dst, src, 0, bursts, bytes, 0, 0, src_gap, dst_gap);
    }
}
#define PAD_LENGTH "The lengths of DataCopyPad count bytes, of whole elements."
template <typename T, typename Params, typename Pad>
__aicore__ inline void DataCopyPadGm2UBImpl(__ubuf__ T* dst, __gm__ T* src, const Params& params,
                                            const Pad& pad) {
    if (pad.isPad) {
        set_mov_pad_val(uint64_t(GetScalarBitcodeValue(pad.paddingValue)));
    } else {
        dav_no_pad_value();
    }
    ASC_LIMIT(params.blockLen % sizeof(T) == 0, PAD_LENGTH);
    copy_in_aligned(dst, src, params.blockCount, params.blockLen, pad.leftPadding, pad.rightPadding,
                    params.srcStride, params.dstStride);
}
template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   const DataCopyParams& params, const DataCopyPadParams& pad) {
    src.announce_read();
    DataCopyPadGm2UBImpl(dst.pointer(), src.address_, params, pad);
}
template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   const DataCopyExtParams& params,
                                   const DataCopyPadExtParams<T>& pad) {
    src.announce_read();
    DataCopyPadGm2UBImpl(dst.pointer(), src.address_, params, pad);
}
template <typename T, typename Params>
__aicore__ inline void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const Params& params) {
    ASC_LIMIT(params.blockLen % sizeof(T) == 0, PAD_LENGTH);
    copy_out_aligned(dst, src, params.blockCount, params.blockLen, params.srcStride,
                     params.dstStride);
}
template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyParams& params) {
    dst.announce_write();
    DataCopyPadUB2GMImpl(dst.address_, src.pointer(), params);
}
template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyExtParams& params) {
    dst.announce_write();
    DataCopyPadUB2GMImpl(dst.address_, src.pointer(), params);
}

// From fractals to rows: each 16 columns are a copy of many short bursts.
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const Nz2NdParamsFull& p) {
    if (GetPhyType(TPosition(src.GetPosition())) != Hardware::UB || p.dValue % BLOCK_CUBE != 0) {
        dav_fail(
            "A copy from NZ to ND takes multiples of 16 columns, from the unified buffer to "
            "global memory.");
    }
    constexpr uint32_t most = 4095;  // bursts of a copy
    constexpr uint32_t bytes = BLOCK_CUBE * sizeof(T);
    dst.announce_write();
    for (uint32_t nd = 0; nd < p.ndNum; ++nd) {
        for (uint32_t column = 0; column < p.dValue; column += BLOCK_CUBE) {
            for (uint32_t row = 0; row < p.nValue; row += most) {
                const uint32_t rows = p.nValue - row < most ? p.nValue - row : most;
                T* from = src.pointer() + uint64_t(nd) * p.srcNdMatrixStride * CUBE_MAX_SIZE +
                          uint64_t(column) * p.srcNStride + row * BLOCK_CUBE;
                __gm__ T* to = dst.address_ + uint64_t(nd) * p.dstNdMatrixStride +
                               uint64_t(row) * p.dstDStride + column;
                copy_out_aligned(to, from, uint16_t(rows), bytes, 0,
                                 p.dstDStride * uint32_t(sizeof(T)) - bytes);
            }
        }
    }
}

// What DataCopyPad fills with where its own parameters give no value.
template <typename T, TPosition pos = TPosition::MAX>
__aicore__ inline void SetPadValue(T paddingValue) {
    set_mov_pad_val(uint64_t(GetScalarBitcodeValue(paddingValue)));
    dav_pad_value_stays();
}

// ---- slices: the innermost dimension goes by burst, the others by loops
template <typename T, bool inward>
__aicore__ inline void copy_slice(__gm__ T* global, T* local, const SliceInfo global_slices[],
                                  const SliceInfo local_slices[], uint32_t dims) {
    uint32_t bursts[K_MAX_SHAPE_DIM];
    uint32_t index[K_MAX_SHAPE_DIM] = {0};
    for (uint32_t d = 0; d < dims; ++d) {
        const SliceInfo& slice = global_slices[d];
        const uint32_t length = d == 0 ? slice.burstLen * ONE_BLK_SIZE / sizeof(T) : 1;
        bursts[d] =
            (slice.endIndex - slice.startIndex + 1 + slice.stride) / (length + slice.stride);
    }
    for (;;) {
        uint64_t global_at = 0;
        uint64_t local_at = 0;
        uint64_t global_pitch = 1;
        uint64_t local_pitch = 1;
        for (uint32_t d = 0; d < dims; ++d) {
            const uint32_t length =
                d == 0 ? global_slices[0].burstLen * ONE_BLK_SIZE / sizeof(T) : 1;
            global_at +=
                (global_slices[d].startIndex + index[d] * (length + global_slices[d].stride)) *
                global_pitch;
            local_at +=
                (local_slices[d].startIndex + index[d] * (length + local_slices[d].stride)) *
                local_pitch;
            global_pitch *= global_slices[d].shapeValue;
            local_pitch *= local_slices[d].shapeValue;
        }
        const DataCopyParams burst(1, uint16_t(global_slices[0].burstLen), 0, 0);
        if constexpr (inward) {
            DataCopyGM2UBImpl(local + local_at, global + global_at, burst);
        } else {
            DataCopyUB2GMImpl(global + global_at, local + local_at, burst);
        }
        uint32_t d = 0;
        while (d < dims && ++index[d] >= bursts[d]) index[d++] = 0;
        if (d == dims) break;
    }
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const SliceInfo dstSlices[], const SliceInfo srcSlices[],
                                const uint32_t dims = 1) {
    copy_slice<T, true>(src.address_, dst.pointer(), srcSlices, dstSlices, dims);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const SliceInfo dstSlices[], const SliceInfo srcSlices[],
                                const uint32_t dims = 1) {
    copy_slice<T, false>(dst.address_, src.pointer(), dstSlices, srcSlices, dims);
}

// ---- filling global memory
template <typename T>
__aicore__ inline void InitGlobalMemory(GlobalTensor<T> global, const uint64_t size,
                                        const T value) {
    LocalTensor<T> scratch;
    PopStackBuffer<T, TPosition::LCM>(scratch);
    constexpr uint32_t most = MAX_REPEAT_TIMES * ONE_BLK_SIZE / sizeof(T);
    const uint32_t part = scratch.GetSize() < most ? scratch.GetSize() : most;
    Duplicate(scratch, value, int32_t(part));
    order_pipes<HardEvent::V_MTE3>();
    for (uint64_t done = 0; done < size; done += part) {
        const uint64_t left = size - done;
        const uint32_t elements = uint32_t(left < part ? left : part);
        const GlobalTensor<T> rest = global[done];
        rest.announce_write();
        copy_out_aligned(rest.address_, scratch.pointer(), 1, elements * uint32_t(sizeof(T)), 0, 0);
    }
    order_pipes<HardEvent::MTE3_V>();
}
template <typename T>
__aicore__ inline void InitOutput(GlobalTensor<T> global, uint32_t size, T value = T(0)) {
    InitGlobalMemory(global, size, value);
}
template <typename T> __aicore__ inline void Fill(GlobalTensor<T> global, uint64_t size, T value) {
    InitGlobalMemory(global, size, value);
}

// ---- atomics
template <typename T> __aicore__ inline void SetAtomicType() {
    // Unreached branches of generic kernels may name other types: only reaching one is an error.
    if constexpr (!SupportType<T, float, half, bfloat16_t, int32_t, int16_t, int8_t>()) {
        dav_fail("Atomics know float, half, bfloat16_t, int32_t, int16_t and int8_t only.");
    }
    if constexpr (IsSameType<T, float>::value) set_atomic_f32();
    if constexpr (IsSameType<T, half>::value) set_atomic_f16();
    if constexpr (IsSameType<T, bfloat16_t>::value) set_atomic_bf16();
    if constexpr (IsSameType<T, int32_t>::value) set_atomic_s32();
    if constexpr (IsSameType<T, int16_t>::value) set_atomic_s16();
    if constexpr (IsSameType<T, int8_t>::value) set_atomic_s8();
}
__aicore__ inline void SetAtomicNone() { set_atomic_none(); }
__aicore__ inline void DisableDmaAtomic() { set_atomic_none(); }
template <typename T> __aicore__ inline void SetAtomicAdd() {
    set_atomic_add();
    SetAtomicType<T>();
}
template <typename T> __aicore__ inline void SetAtomicMax() {
    set_atomic_max();
    SetAtomicType<T>();
}
template <typename T> __aicore__ inline void SetAtomicMin() {
    set_atomic_min();
    SetAtomicType<T>();
}
template <AtomicDtype type, AtomicOp op> __aicore__ inline void SetStoreAtomicConfig() {
    set_st_atomic_cfg(uint64_t(type) | (uint64_t(op) << 4));
}
__aicore__ inline int64_t GetStoreAtomicConfig() { return int64_t(get_st_atomic_cfg()); }

}  // namespace AscendC
