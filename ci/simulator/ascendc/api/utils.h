// Masks, system variables, scalar helpers and the small internals that operators call directly.
#pragma once

#include "assertion.h"
#include "queue.h"

namespace AscendC {

// ---- masks
// A mask as callers give it, for elements of T: two words of bits, or how many leading elements.
template <typename T> struct MaskArgument {
    __aicore__ MaskArgument(const uint64_t bits[]) : high(bits[1]), low(bits[0]) {
#ifdef DAV_CHECKED
        if ((low & (low + 1)) != 0 || (high & (high + 1)) != 0)
            dav_limit("The mask of an instruction names lanes by bits, and not the first ones.",
                      "mask_kind");
#endif
    }
    // Any integer: a literal 0 could be a pointer as well as a count of another type.
    template <typename N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
    __aicore__ MaskArgument(N count) {
        constexpr int32_t whole = int32_t(ONE_REPEAT_BYTE_SIZE / sizeof(T));
        const int32_t elements = int32_t(count);
#ifdef DAV_CHECKED
        if (elements > whole)
            dav_limit("The mask of an instruction counts more lanes than a repeat has.",
                      "mask_kind");
#endif
        low = elements >= 64 ? FULL_MASK : (uint64_t(1) << elements) - 1;
        high = elements >= 128 || (elements == whole && whole != 64) ? FULL_MASK
               : elements > 64 ? (uint64_t(1) << (elements - 64)) - 1
                               : 0;
    }
    uint64_t high;
    uint64_t low;
};
// T comes from the tensors, so that a mask of either kind converts.
template <typename T> struct NotDeduced {
    using type = T;
};
template <typename T> using MaskOf = typename NotDeduced<MaskArgument<T>>::type;
template <bool isSetMask = true, typename T>
__aicore__ inline void set_mask(const MaskArgument<T>& mask) {
#ifdef DAV_CHECKED
    if (isSetMask && mask.high == 0 && mask.low == 0)
        dav_limit("The mask of an instruction has no lanes: it does nothing.", "no_lanes");
#endif
    if constexpr (isSetMask) set_vector_mask(mask.high, mask.low);
}

struct AscendCUtils {
    template <typename T, bool isSetMask = true>
    __aicore__ static void SetMask(const uint64_t& high, const uint64_t& low) {
        if constexpr (isSetMask) set_vector_mask(high, low);
    }
    // The first `elements` of a repeat.
    template <typename T, bool isSetMask = true> __aicore__ static void SetMask(int32_t elements) {
        if constexpr (isSetMask) set_mask(MaskArgument<T>(uint64_t(elements)));
    }
    template <typename T> __aicore__ static void SetMaskCount() { set_mask_count(); }
    template <typename T> __aicore__ static void SetMaskNorm() { set_mask_norm(); }
    template <bool isSetMask = true> __aicore__ static void ResetMask() {
        if constexpr (isSetMask) set_vector_mask(FULL_MASK, FULL_MASK);
    }
    // 1: numbers beyond a type's range become infinite, which is what this machine does; 0: the
    // largest number.
    __aicore__ static void SetOverflow(uint64_t infinite) {
        set_ctrl(infinite == 1 ? sbitset1(get_ctrl(), 48) : sbitset0(get_ctrl(), 48));
    }
    __aicore__ static constexpr uint32_t GetC0Size() { return DEFAULT_C0_SIZE; }
    __aicore__ static constexpr uint32_t GetC0Count(const uint32_t bytes) {
        return DEFAULT_C0_SIZE / bytes;
    }
    __aicore__ static constexpr int32_t GetBitSize(int32_t bytes) { return bytes * 8; }
    __aicore__ static int64_t GetRsvdCnt() { return get_rsvd_cnt(); }
    // Fixed scratch space at the end of UB that selections use for their mask.
    template <typename T>
    __aicore__ static __ubuf__ T* GetTemporaryBufferAddr(const int32_t offset, const int32_t) {
        return reinterpret_cast<__ubuf__ T*>(dav_ub_base() + offset);
    }
    template <typename T> __aicore__ static void FreeTemporaryBuffer(__ubuf__ T*) {}
};

#ifdef DAV_CHECKED
#define ASC_OWN_MASK() dav_own_mask()
#else
#define ASC_OWN_MASK()
#endif
template <typename T, MaskMode mode = MaskMode::NORMAL>
__aicore__ inline void SetVectorMask(const uint64_t high, const uint64_t low) {
    set_vector_mask(high, low);
    ASC_OWN_MASK();
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
__aicore__ inline void SetVectorMask(int32_t elements) {
    if constexpr (mode == MaskMode::COUNTER) {
        set_vector_mask(0, uint64_t(elements));
    } else {
        AscendCUtils::SetMask<T>(elements);
    }
    ASC_OWN_MASK();
}
template <typename T, MaskMode mode>
__aicore__ inline void SetVectorMaskImpl(const uint64_t high, const uint64_t low) {
    set_vector_mask(high, low);
}
__aicore__ inline void ResetMask() { set_vector_mask(FULL_MASK, FULL_MASK); }
__aicore__ inline void SetMaskCount() {
    set_mask_count();
    ASC_OWN_MASK();
}
__aicore__ inline void SetMaskNorm() { set_mask_norm(); }
__aicore__ inline void SetMaskCountImpl() { set_mask_count(); }
__aicore__ inline void SetMaskNormImpl() { set_mask_norm(); }

// The lowering of calls with an element count: the mask register counts elements instead of
// lanes, one instruction covers them all, and the mode and the full mask are restored after it.
struct CounterMode {
    __aicore__ explicit CounterMode(uint64_t elements) {
        set_mask_count();
        set_vector_mask(0, elements);
    }
    __aicore__ ~CounterMode() {
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
    }
};

// ---- who and where am I
__aicore__ inline int64_t GetSubBlockNum() { return get_subblockdim(); }
__aicore__ inline int64_t GetSubBlockIdx() { return get_subblockid(); }
__aicore__ inline int64_t GetTaskRation() { return get_subblockdim(); }
__aicore__ inline int64_t GetTaskRatio() { return get_subblockdim(); }
__aicore__ inline int64_t GetBlockIdx() {
    if constexpr (g_coreType == AIC) return get_block_idx();
    return get_block_idx() * get_subblockdim() + get_subblockid();
}
__aicore__ inline int64_t GetBlockIdxImpl() { return GetBlockIdx(); }
__aicore__ inline int64_t GetBlockNum() { return get_block_num(); }
__aicore__ inline int64_t GetBlockNumImpl() { return get_block_num(); }
__aicore__ inline int64_t GetSystemCycle() { return int64_t(get_sys_cnt()); }
__aicore__ inline int64_t GetProgramCounter() { return 0; }
__aicore__ inline constexpr uint32_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
template <typename T> __aicore__ inline constexpr uint32_t GetDataBlockSizeInBytes() {
    return ONE_BLK_SIZE;
}
__aicore__ inline constexpr uint32_t GetUBSizeInBytes() { return TOTAL_UB_SIZE; }
__aicore__ inline constexpr uint32_t GetVecLen() { return ONE_REPEAT_BYTE_SIZE; }
__aicore__ inline void Trap() { trap(); }
__aicore__ inline void InitSocState() {
    set_atomic_none();
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
}
__aicore__ inline void InitSocStateImpl() { InitSocState(); }

// The first 16 MiB of the workspace belong to the system, the operator's follow.
__aicore__ inline void SetSysWorkspace(GM_ADDR workspace) {
    if (g_sysWorkspaceReserved == nullptr) g_sysWorkspaceReserved = workspace;
}
__aicore__ inline void SetSysWorkspaceForce(GM_ADDR workspace) {
    g_sysWorkspaceReserved = workspace;
}
__aicore__ inline GM_ADDR GetSysWorkSpacePtr() { return g_sysWorkspaceReserved; }
__aicore__ inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
    return g_sysWorkspaceReserved == nullptr ? workspace
                                             : g_sysWorkspaceReserved + RESERVED_WORKSPACE;
}
template <typename T> __aicore__ inline void OOMCheckAddrRange(__gm__ T*, const uint64_t) {}
template <typename T> __aicore__ inline void OOMAddAddrForL2Cache(__gm__ T*, const uint64_t) {}

// ---- caches
// The machine's instructions are always at hand.
__aicore__ inline void ICachePreLoad(const int64_t) {}
__aicore__ inline int64_t GetICachePreloadStatus() { return get_icache_prl_st(); }
template <typename T> __aicore__ inline T ReadGmByPassDCache(__gm__ T* addr) {
    return ld_dev(addr, 0);
}
template <typename T> __aicore__ inline void WriteGmByPassDCache(__gm__ T* addr, T value) {
    st_dev(value, addr, 0);
}
template <typename T, CacheLine line, DcciDst destination>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
    dcci(const_cast<__gm__ T*>(tensor.GetPhyAddr()), uint64_t(line), uint64_t(destination));
}
template <typename T, CacheLine line>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
    dcci(const_cast<__gm__ T*>(tensor.GetPhyAddr()), uint64_t(line));
}
template <typename T, CacheLine line, DcciDst destination>
__aicore__ inline void DataCacheCleanAndInvalid(const LocalTensor<T>& tensor) {
    dcci(tensor.pointer(), uint64_t(line), uint64_t(destination));
}
template <typename T> __aicore__ inline void DataCachePreload(const GlobalTensor<T>&, int64_t) {}

// ---- scalar helpers
__aicore__ inline constexpr uint32_t DivCeil(uint32_t a, uint32_t b) {
    return b == 0 ? 0 : (a + b - 1) / b;
}
__aicore__ inline constexpr uint32_t AlignUp(uint32_t a, uint32_t rounding) {
    return rounding == 0 ? 0 : (a + rounding - 1) / rounding * rounding;
}
__aicore__ inline constexpr uint32_t CeilDivision(uint32_t a, uint32_t b) { return DivCeil(a, b); }
__aicore__ inline constexpr uint32_t Ceil(uint32_t a, uint32_t b) { return DivCeil(a, b); }

__aicore__ inline float ToFloat(const bfloat16_t& value) { return float(value); }
__aicore__ inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }
template <typename T> __aicore__ inline BitsType<T> GetScalarBitcodeValue(T value) {
    BitsType<T> bits;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <typename T, typename U> __aicore__ inline U GetBits(const T& value) {
    U bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T) < sizeof(U) ? sizeof(T) : sizeof(U));
    return bits;
}

// Rounds a scalar as the scalar unit's conversions do.
template <typename T, typename U, RoundMode mode> __aicore__ inline U ScalarCast(T value) {
    const float wide = float(value);
    float rounded = wide;
    if constexpr (mode == RoundMode::CAST_ROUND) rounded = roundf(wide);
    if constexpr (mode == RoundMode::CAST_CEIL) rounded = ceilf(wide);
    if constexpr (mode == RoundMode::CAST_FLOOR) rounded = floorf(wide);
    if constexpr (mode == RoundMode::CAST_RINT) rounded = rintf(wide);
    if constexpr (mode == RoundMode::CAST_TRUNC) rounded = truncf(wide);
    // What an integer does not hold becomes the nearest that it does.
    if constexpr (IsSameType<U, int32_t>::value) return conv_f322s32z(rounded);
    return U(rounded);
}
template <typename T, typename U, RoundMode mode> __aicore__ inline U Cast(const T& value) {
    return ScalarCast<T, U, mode>(value);
}
__aicore__ inline float Cast(const bfloat16_t& value) { return float(value); }
// Position of the first 0 or 1 bit from the right, -1 when there is none.
template <int bit> __aicore__ inline int64_t ScalarGetSFFValue(uint64_t value) {
    const uint64_t wanted = bit == 1 ? value : ~value;
    return wanted == 0 ? -1 : __builtin_ctzll(wanted);
}
template <int bit> __aicore__ inline int64_t ScalarGetCountOfValue(uint64_t value) {
    const int ones = __builtin_popcountll(value);
    return bit == 1 ? ones : 64 - ones;
}
__aicore__ inline int64_t ScalarCountLeadingZero(uint64_t value) {
    return value == 0 ? 64 : __builtin_clzll(value);
}
// The newer names of these three.
template <int bit> __aicore__ inline int64_t GetSFFValue(uint64_t value) {
    return ScalarGetSFFValue<bit>(value);
}
template <int bit> __aicore__ inline int64_t GetBitCount(uint64_t value) {
    return ScalarGetCountOfValue<bit>(value);
}
__aicore__ inline int64_t CountLeadingZero(uint64_t value) { return ScalarCountLeadingZero(value); }
__aicore__ inline int64_t CountBitsCntSameAsSignBit(int64_t value) {
    return __builtin_clrsbll(value);
}

// ---- what prints or traces on a device does nothing here
template <typename... Arguments> __aicore__ inline void printf(const char*, Arguments...) {}
template <typename... Arguments> __aicore__ inline void PRINTF(const char*, Arguments...) {}
__aicore__ inline void MetricsProfStart() {}
__aicore__ inline void MetricsProfStop() {}
__aicore__ inline void PrintTimeStamp(uint32_t) {}
__aicore__ inline void InitDump(bool, uint32_t) {}
__aicore__ inline void InitDump(bool, GM_ADDR, uint32_t) {}
template <typename T> __aicore__ inline void DumpTensor(const T&, uint32_t, uint32_t) {}
template <typename T, typename S>
__aicore__ inline void DumpTensor(const T&, uint32_t, uint32_t, const S&) {}
template <typename T>
__aicore__ inline void DumpAccChkPoint(const T&, uint32_t, uint32_t, uint32_t) {}

}  // namespace AscendC

// Kernels name it without its namespace too.
using AscendC::GetSysWorkSpacePtr;
