// Comparison into bit masks, and selection by bit masks.
#pragma once

#include "vector_fill.h"

namespace AscendC {

// 32-bit integers know equality only; any other mode on them compares for equality too.
#define ASC_COMPARE_MODES(T, call)                                                             \
    if constexpr (IsSameType<T, int32_t>::value) {                                             \
        ASC_LIMIT(                                                                             \
            mode == CMPMODE::EQ,                                                               \
            "Comparisons of int32_t know EQ alone: another mode compares for equality, too."); \
        call(eq);                                                                              \
    } else {                                                                                   \
        switch (mode) {                                                                        \
            case CMPMODE::LT: call(lt); break;                                                 \
            case CMPMODE::GT: call(gt); break;                                                 \
            case CMPMODE::EQ: call(eq); break;                                                 \
            case CMPMODE::LE: call(le); break;                                                 \
            case CMPMODE::GE: call(ge); break;                                                 \
            case CMPMODE::NE: call(ne); break;                                                 \
        }                                                                                      \
    }

template <typename T>
__aicore__ inline void compare_to_memory(uint8_t* dst, T* src0, T* src1, CMPMODE mode,
                                         uint8_t repeat, const BinaryRepeatParams& p) {
#define ASC_CALL(op)                                                                      \
    vcmpv_##op(dst, src0, src1, repeat, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, \
               p.dstRepStride, p.src0RepStride, p.src1RepStride)
    ASC_COMPARE_MODES(T, ASC_CALL)
#undef ASC_CALL
}
template <typename T>
__aicore__ inline void compare_scalar_to_memory(uint8_t* dst, T* src, T value, CMPMODE mode,
                                                uint8_t repeat, const UnaryRepeatParams& p) {
#define ASC_CALL(op)                                                                     \
    vcmpvs_##op(dst, src, value, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, \
                p.srcRepStride)
    ASC_COMPARE_MODES(T, ASC_CALL)
#undef ASC_CALL
}

// Compare writes one bit an element and pays no heed to the mask.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                               const LocalTensor<T>& src1, CMPMODE cmpMode, const MaskOf<T>&,
                               const FieldOf<uint8_t> repeatTime,
                               const BinaryRepeatParams& params) {
    compare_to_memory((uint8_t*)dst.pointer(), src0.pointer(), src1.pointer(), cmpMode, repeatTime,
                      params);
}
// Without a destination the bits go to the compare mask register.
template <typename T>
__aicore__ inline void compare_to_register(T* src0, T* src1, CMPMODE mode,
                                           const BinaryRepeatParams& p) {
#define ASC_CALL(op)                                                                           \
    vcmp_##op(src0, src1, 1, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride, \
              p.src0RepStride, p.src1RepStride)
    switch (mode) {
        case CMPMODE::LT: ASC_CALL(lt); break;
        case CMPMODE::GT: ASC_CALL(gt); break;
        case CMPMODE::EQ: ASC_CALL(eq); break;
        case CMPMODE::LE: ASC_CALL(le); break;
        case CMPMODE::GE: ASC_CALL(ge); break;
        case CMPMODE::NE: ASC_CALL(ne); break;
    }
#undef ASC_CALL
}
template <typename T, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                               CMPMODE cmpMode, const MaskOf<T>& mask,
                               const BinaryRepeatParams& params) {
    set_mask<isSetMask>(mask);
    compare_to_register(src0.pointer(), src1.pointer(), cmpMode, params);
}
// Whole repeats of 256 bytes; 252 at a time keep the destination's bits 32-byte aligned.
constexpr uint32_t COMPARE_REPEATS = 252;
template <typename T, typename U>
__aicore__ inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                               const LocalTensor<T>& src1, CMPMODE cmpMode, uint32_t count) {
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    ASC_LIMIT(count % whole == 0,
              "A comparison of a count compares whole 256 bytes: the elements behind them get no "
              "result.");
    uint8_t* bits = (uint8_t*)dst.pointer();
    const BinaryRepeatParams params;
    for (uint32_t repeat = 0; repeat < count / whole; repeat += COMPARE_REPEATS) {
        const uint32_t left = count / whole - repeat;
        compare_to_memory(bits + repeat * whole / 8, src0.pointer() + repeat * whole,
                          src1.pointer() + repeat * whole, cmpMode,
                          uint8_t(left < COMPARE_REPEATS ? left : COMPARE_REPEATS), params);
    }
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                                     const T src1Scalar, CMPMODE cmpMode, const MaskOf<T>&,
                                     const FieldOf<uint8_t> repeatTime,
                                     const UnaryRepeatParams& params) {
    compare_scalar_to_memory((uint8_t*)dst.pointer(), src0.pointer(), src1Scalar, cmpMode,
                             repeatTime, params);
}
template <typename T, typename U>
__aicore__ inline void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                                     const T src1Scalar, CMPMODE cmpMode, uint32_t count) {
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    ASC_LIMIT(count % whole == 0,
              "A comparison of a count compares whole 256 bytes: the elements behind them get no "
              "result.");
    uint8_t* bits = (uint8_t*)dst.pointer();
    const UnaryRepeatParams params;
    for (uint32_t repeat = 0; repeat < count / whole; repeat += COMPARE_REPEATS) {
        const uint32_t left = count / whole - repeat;
        compare_scalar_to_memory(bits + repeat * whole / 8, src0.pointer() + repeat * whole,
                                 src1Scalar, cmpMode,
                                 uint8_t(left < COMPARE_REPEATS ? left : COMPARE_REPEATS), params);
    }
}
// The newer name of CompareScalar.
template <typename T, typename U, typename... Rest>
__aicore__ inline void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src,
                                const T scalar, const Rest&... rest) {
    CompareScalar(dst, src, scalar, rest...);
}
#undef ASC_COMPARE_MODES

template <typename T> __aicore__ inline void SetCmpMask(const LocalTensor<T>& src) {
    set_cmpmask(src.pointer());
}
template <typename T> __aicore__ inline void GetCmpMask(const LocalTensor<T>& dst) {
    get_cmpmask(dst.pointer());
}

// ---- selection
#define ASC_SELECT_STRIDES                                                                \
    params.dstBlkStride, params.src0BlkStride, params.src1BlkStride, params.dstRepStride, \
        params.src0RepStride, params.src1RepStride

// Puts a 32-byte block full of `value` where the compare mask register can load it from.
template <typename T> __aicore__ inline void load_compare_mask(const T& value, bool counting) {
    T* scratch = (T*)(dav_ub_base() + TMP_UB_OFFSET);
    if (counting) {
        set_vector_mask(0, ONE_BLK_SIZE);
    } else {
        AscendCUtils::SetMask<T>(ONE_BLK_SIZE);
    }
    vector_dup(scratch, value, 1, 1, 1, DEFAULT_REPEAT_STRIDE, 0);
    pipe_barrier(PIPE_V);
    set_cmpmask(scratch);
    pipe_barrier(PIPE_V);
}
// Makes the register ready for a choice between two tensors: the bits themselves, or where they
// are.
template <typename U>
__aicore__ inline void prepare_selection(const LocalTensor<U>& bits, SELMODE mode, bool counting) {
    if (mode == SELMODE::VSEL_CMPMASK_SPR) {
        set_cmpmask(bits.pointer());
        pipe_barrier(PIPE_V);
    } else {
        load_compare_mask(uint32_t(bits.GetPhyAddr()), counting);
    }
}
template <typename T>
__aicore__ inline void select_between(T* dst, T* src0, T* src1, SELMODE mode, uint8_t repeat,
                                      const BinaryRepeatParams& params) {
    if (mode == SELMODE::VSEL_CMPMASK_SPR) {
        vsel(dst, src0, src1, repeat, ASC_SELECT_STRIDES);
    } else {
        vsel(dst, src0, (void*)src1, repeat, ASC_SELECT_STRIDES, uint8_t(mode));
    }
}
// `isSetMask` is taken and not read, as on the device: loading the register changes the mask.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                              SELMODE selMode, const MaskOf<T>& mask,
                              const FieldOf<uint8_t> repeatTime, const BinaryRepeatParams& params) {
    prepare_selection(selMask, selMode, false);
    set_mask(mask);
    select_between(dst.pointer(), src0.pointer(), src1.pointer(), selMode, repeatTime, params);
}
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                              SELMODE selMode, uint32_t count) {
    set_mask_count();
    prepare_selection(selMask, selMode, true);
    set_vector_mask(0, count);
    select_between(dst.pointer(), src0.pointer(), src1.pointer(), selMode, 1, BinaryRepeatParams());
    pipe_barrier(PIPE_V);
    set_vector_mask(FULL_MASK, FULL_MASK);
    set_mask_norm();
}
// Between a tensor and a scalar.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, T src1, SELMODE selMode,
                              const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                              const BinaryRepeatParams& params) {
    load_compare_mask(src1, false);
    set_mask(mask);
    vsel(dst.pointer(), src0.pointer(), (void*)selMask.pointer(), repeatTime, ASC_SELECT_STRIDES,
         uint8_t(selMode));
}
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, T src1, SELMODE selMode, uint32_t count) {
    const BinaryRepeatParams params;
    set_mask_count();
    load_compare_mask(src1, true);
    set_vector_mask(0, count);
    vsel(dst.pointer(), src0.pointer(), (void*)selMask.pointer(), 1, ASC_SELECT_STRIDES,
         uint8_t(selMode));
    set_vector_mask(FULL_MASK, FULL_MASK);
    set_mask_norm();
}
// The register's bits as they are.
template <typename T, SELMODE selMode>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, const FieldOf<uint8_t> repeatTime,
                              const BinaryRepeatParams& params) {
    select_between(dst.pointer(), src0.pointer(), src1.pointer(), selMode, repeatTime, params);
}
// The same between a tensor and the value in the register.
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const FieldOf<uint8_t> repeatTime,
                              const BinaryRepeatParams& params) {
    vsel(dst.pointer(), src0.pointer(), (void*)selMask.pointer(), repeatTime, ASC_SELECT_STRIDES,
         uint8_t(SELMODE::VSEL_TENSOR_SCALAR_MODE));
}
#undef ASC_SELECT_STRIDES

}  // namespace AscendC
