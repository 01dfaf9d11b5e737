// Enumerations, hardware sizes and small type traits of the API.
#pragma once

#include "architecture.h"
#include "qualifiers.h"

enum class KernelMetaType : int32_t {};

namespace AscendC {

constexpr uint32_t ONE_BLK_SIZE = dav::BLOCK_BYTES;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = dav::REPEAT_BYTES;
constexpr uint32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t DEFAULT_BLOCK_SIZE = 256;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t DEFAULT_BLK_NUM = 8;
using ::int4b_t;
using fp8_e8m0_t = uint8_t;  // scales of later chips: kernels for several name the type
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint8_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = 2;
constexpr int32_t HALF_FACTOR = 2;
constexpr int32_t BYTE_PER_BLOCK_ELE_NUM = 32;
constexpr uint64_t FULL_MASK = 0xffffffffffffffffULL;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr int32_t HLAF_MASK_LEN = 64;
constexpr int32_t HALF_MASK_LEN = 64;
constexpr uint32_t TOTAL_UB_SIZE = dav::UB_BYTES;
constexpr uint32_t TMP_UB_OFFSET = TOTAL_UB_SIZE - 8 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = TMP_UB_OFFSET;  // what is left to a kernel
// The end of UB is kept free for messages to the cube cores.
constexpr uint32_t POP_STACK_END = TOTAL_UB_SIZE - 64;
constexpr uint32_t TOTAL_L1_SIZE = dav::L1_BYTES;
constexpr uint32_t TOTAL_L0A_SIZE = dav::L0A_BYTES;
constexpr uint32_t TOTAL_L0B_SIZE = dav::L0B_BYTES;
constexpr uint32_t TOTAL_L0C_SIZE = dav::L0C_BYTES;
constexpr uint64_t RESERVED_WORKSPACE = 16 * 1024 * 1024;
// The bits of minus infinity as a float.
constexpr uint32_t F32_NEG_INF = 0xff800000;
constexpr uint32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr uint32_t VA_REG_ARRAY_LEN = 8;
constexpr uint32_t MRG_SORT_ELEMENT_LEN = 4;
constexpr uint32_t BLOCK_CUBE = 16;
constexpr uint32_t BRCB_BROADCAST_NUMBER = 8;
constexpr uint32_t CUBE_MAX_SIZE = 256;
constexpr uint32_t B8_BYTE_SIZE = 1;
constexpr uint32_t B16_BYTE_SIZE = 2;
constexpr uint32_t B32_BYTE_SIZE = 4;
constexpr uint32_t B64_BYTE_SIZE = 8;
constexpr uint32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr uint32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr uint32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr uint8_t B32_DATA_NUM_PER_BLOCK = 8;
constexpr uint8_t B16_DATA_NUM_PER_BLOCK = 16;
constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128;
constexpr int32_t B32_DATA_NUM_PER_REPEAT = 64;
constexpr uint32_t B64_DATA_NUM_PER_REPEAT = 32;
constexpr int32_t K_MAX_SHAPE_DIM = 8;
constexpr int32_t K_MAX_DIM = 8;
constexpr int32_t QBUF_MAX_LEN = 64;
constexpr int32_t MAX_EVENT_ID = 8;
// The scalar unit's data cache line.
constexpr uint32_t CACHE_LINE_SIZE = 64;

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX,
};
using QuePosition = TPosition;
enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    FIX_V,
    MAX,
};
enum class MemoryT : uint8_t { L1 = 0, L0A, L0B, L0C, UB, BIAS };
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
};
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR = 0,
    VSEL_TENSOR_SCALAR_MODE,
    VSEL_TENSOR_TENSOR_MODE,
};
enum class ReduceType { NONE = -1, SUM = 0, MAX, MIN };
enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX = 0,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX,
};
enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
enum class BlockMode : uint8_t {
    BLOCK_MODE_NORMAL = 0,
    BLOCK_MODE_MATRIX,
    BLOCK_MODE_VECTOR,
    BLOCK_MODE_SMALL_CHANNEL,
    BLOCK_MODE_DEPTHWISE,
};
enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE,
    TRANSPOSE_NZ2ND_0213,
    TRANSPOSE_NZ2NZ_0213,
    TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITHOUT_N,
    TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY,
    TRANSPOSE_ND_UB_GM,
    TRANSPOSE_GRAD_ND_UB_GM,
    TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC,
    TRANSPOSE_NHWC2NCHW,
};
enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
enum class CacheMode {
    CACHE_MODE_DISABLE = 0,
    CACHE_MODE_NORMAL = 1,
    CACHE_MODE_LAST = 2,
    CACHE_MODE_PERSISTENT = 4,
};
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class TBufState : uint8_t { FREE = 0, OCCUPIED, ENQUE, DEQUE };
enum class AtomicDtype {
    ATOMIC_NONE = 0,
    ATOMIC_F32,
    ATOMIC_F16,
    ATOMIC_S16,
    ATOMIC_S32,
    ATOMIC_S8,
    ATOMIC_BF16,
};
enum class AtomicOp { ATOMIC_SUM = 0 };

using TEventID = int8_t;
using TBufHandle = uint8_t*;
using TTagType = int32_t;
constexpr TEventID INVALID_TEVENTID = -1;

struct TrueType {
    static constexpr bool value = true;
};
struct FalseType {
    static constexpr bool value = false;
};
template <typename T, typename U> struct IsSameType : FalseType {};
template <typename T> struct IsSameType<T, T> : TrueType {};
template <bool condition, class A, class B> struct Conditional {
    using type = A;
};
template <class A, class B> struct Conditional<false, A, B> {
    using type = B;
};
template <typename... Arg> struct Tuple {};
template <typename T, typename... Candidates> __aicore__ constexpr bool SupportType() {
    return (IsSameType<T, Candidates>::value || ...);
}
// Element type of a tensor; this API knows no tensor traits, so it is the type itself.
template <typename T> using PrimT = T;

// An unsigned (signed) integer as wide as T, for instructions that only move bits.
template <size_t bytes> struct BitsOf;
template <> struct BitsOf<1> {
    using type = uint8_t;
};
template <> struct BitsOf<2> {
    using type = uint16_t;
};
template <> struct BitsOf<4> {
    using type = uint32_t;
};
template <> struct BitsOf<8> {
    using type = uint64_t;
};
template <typename T> using BitsType = typename BitsOf<sizeof(T)>::type;

}  // namespace AscendC
