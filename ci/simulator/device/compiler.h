// What the device compiler knows before the first line of a kernel: its qualifiers and the scalar
// functions and variables that are built into it. Both front doors start from it.
#pragma once

// Copies of the standard library are calls too, which the machine sees; its templates spell them
// with the names that the compiler expands in place.
#include <cstring>
#define __builtin_memcpy memcpy
#define __builtin_memmove memmove
#define __builtin_memset memset
#define __builtin_memcmp memcmp
#include <cmath>
#include <string_view>
#undef __builtin_memcpy
#undef __builtin_memmove
#undef __builtin_memset
#undef __builtin_memcmp

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../machine/intrinsics.h"

// Every API function is inlined into the operator's own line, so that the code address of an
// instruction names that line.
#define __aicore__ __attribute__((always_inline))
// The launch is the only caller, and has the kernel inlined: a copy that stands alone, which nobody
// calls, took a third of the compiler's time.
#define __global__ inline
// Which cores a kernel runs on, which the unit that calls it says as a KERNEL_TASK_TYPE, and how
// its blocks are given to cores.
#define __mix__(...)
#define __schedmode__(...)
#define __cube__
#define __vector__
#define __simd_vf__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __sync_noalias__
#define __sync_alias__
#define __check_sync_alias__
#define __inline__ inline
// A global that each core has for itself: all are, here.
#ifndef __BLOCK_LOCAL__
#define __BLOCK_LOCAL__
#endif
#define __forceinline__ inline __attribute__((always_inline))
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

#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

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
