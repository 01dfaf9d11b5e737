// What the device compiler and the operator build put before a kernel's first line: qualifiers,
// type aliases, data type and format numbers, tiling macros.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../machine/intrinsics.h"

// Every API function is inlined into the operator's own line, so that the code address of an
// instruction names that line.
#define __aicore__ __attribute__((always_inline))
#define __global__
#define __simd_vf__
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __sync_noalias__
#define __sync_alias__
#define __check_sync_alias__
#define __inline__ inline
#ifndef __gm__
#define __gm__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif
#ifndef __ca__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#endif
#define __kfc_workspace__
#define __workspace__

using GM_ADDR = __gm__ uint8_t*;

// Checks are compiled out on the device; some operators rely on the argument not even parsing.
#define ASSERT(...)
#define ASSERT_MSG(...)
#define ASCENDC_ASSERT(...)
#define ASCENDC_DEBUG_ASSERT(...)
#define KERNEL_LOG(...)
#define ASCENDC_REPORT_NOT_SUPPORT(...)
#define ASCENDC_REPORT_CHECK_ERROR(...)
#define DEBUG_CODE(...)
#ifndef NDEBUG
#define NDEBUG  // an operator that includes <cassert> later gets the same
#endif
#undef assert
#define assert(...) ((void)0)
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

#define ASCEND_IS_AIV (::AscendC::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC (::AscendC::g_coreType == ::AscendC::AIC)
#define ASCEND_IS_NOT_AIV (::AscendC::g_coreType != ::AscendC::AIV)
#define ASCEND_IS_NOT_AIC (::AscendC::g_coreType != ::AscendC::AIC)

// Kernel types: marks in the built library, which say on what cores the kernel runs.
#define ASC_MARK(name) \
    asm volatile(".globl ascendopt_task_" #name "\n.set ascendopt_task_" #name ", 1")
#define KERNEL_TASK_TYPE_DEFAULT(type) ASC_MARK(default_##type)
#define KERNEL_TASK_TYPE(key, type)                        \
    do {                                                   \
        if (TILING_KEY_IS(key)) ASC_MARK(keyed_##type);    \
    } while (false)
// Other marks that only steer the operator build.
#define ENABLE_DETERMINISTIC(...)
#define ENABLE_PRINTF(...)
#define ENABLE_PRINTF_DUMP_SIZE(...)
#define REGISTER_TILING_DEFAULT(...)
#define REGISTER_TILING_FOR_TILINGKEY(...)
#define REGISTER_NONE_TILING
#define ASCENDC_TPL_SEL_PARAM(...)

// ---- tiling
// The build gives the key and names the structure (AscendOptTilingData) that the host fills.
#ifndef ASCENDOPT_TILING_KEY
#define ASCENDOPT_TILING_KEY 0
#endif
#define TILING_KEY_IS(key) ((key) == ASCENDOPT_TILING_KEY)
#define TILING_KEY_VAR ASCENDOPT_TILING_KEY
#define GET_TILING_DATA(name, pointer) \
    GET_TILING_DATA_WITH_STRUCT(AscendOptTilingData, name, pointer)
#define GET_TILING_DATA_WITH_STRUCT(type, name, pointer) \
    type name;                                           \
    __builtin_memcpy(static_cast<void*>(&name), (const void*)(pointer), sizeof(type))
#define GET_TILING_DATA_MEMBER(type, member, name, pointer) \
    decltype(type::member) name;                            \
    __builtin_memcpy(static_cast<void*>(&name),             \
                     (const uint8_t*)(pointer) + offsetof(type, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, pointer) \
    const __gm__ type* name = (const __gm__ type*)(pointer)
#define COPY_TILING_WITH_STRUCT(type, source, target) const type* target = (const type*)(source)
#define COPY_TILING_WITH_ARRAY(type, length, source, target) \
    const type* target = (const type*)(source)

// ---- data types and formats, numbered as on the host
#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_STRING 13
#define DT_COMPLEX64 16
#define DT_COMPLEX128 17
#define DT_QINT8 18
#define DT_QINT32 20
#define DT_BF16 27
#define DT_INT4 29
#define DT_UINT1 30
#define DT_INT2 31
#define FORMAT_NCHW 0
#define FORMAT_NHWC 1
#define FORMAT_ND 2
#define FORMAT_NC1HWC0 3
#define FORMAT_FRACTAL_Z 4
#define FORMAT_NC1C0HWPAD 5
#define FORMAT_HWCN 16
#define FORMAT_NDHWC 27
#define FORMAT_FRACTAL_NZ 29
#define FORMAT_NCDHW 30
#define FORMAT_DHWCN 31
#define FORMAT_NDC1HWC0 32
#define FORMAT_FRACTAL_Z_3D 33
#define FORMAT_NCL 47

// Scalar helpers that the device compiler has built in.
#define ASC_BUILTIN_MIN_MAX(T)                       \
    inline T min(T a, T b) { return b < a ? b : a; } \
    inline T max(T a, T b) { return a < b ? b : a; }
ASC_BUILTIN_MIN_MAX(int)
ASC_BUILTIN_MIN_MAX(unsigned)
ASC_BUILTIN_MIN_MAX(int64_t)
ASC_BUILTIN_MIN_MAX(uint64_t)
ASC_BUILTIN_MIN_MAX(float)
#undef ASC_BUILTIN_MIN_MAX

// Variables that the device compiler has built in.
struct BuiltinBlockIndex {
    __aicore__ operator int64_t() const { return get_block_idx(); }
};
struct BuiltinBlockNumber {
    __aicore__ operator int64_t() const { return get_block_num(); }
};
inline constexpr BuiltinBlockIndex block_idx{};
inline constexpr BuiltinBlockNumber block_num{};

namespace AscendC {
constexpr int32_t MIX = 0;
constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
// A kernel for both kinds of cores is built twice.
#ifdef __DAV_CUBE__
constexpr int32_t g_coreType = AIC;
#else
constexpr int32_t g_coreType = AIV;
#endif
}  // namespace AscendC
