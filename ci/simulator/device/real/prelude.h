// Front door 2: what stands before the AscendC headers of an installed toolkit or of an asc-devkit
// checkout, which the user names. It makes this compiler look like the device compiler to them:
// qualifiers are empty, so the pointers of a local memory are offsets into it, as on the device.
#pragma once

// For what only these headers need.
#define ASCENDOPT_REAL_HEADERS

// Our 4-bit type steps aside for the one that the headers define.
#define int4b_t AscendOptInt4
#include "../compiler.h"
#undef int4b_t

#ifndef __fbuf__
#define __fbuf__
#endif
#ifndef __biasbuf__
#define __biasbuf__
#endif
#define __ssbuf__
#define __host__
#define __host_aicore__
#define __simd_callee__
#define __no_simd_vf_fusion__
#define __disable_kernel_type_autoinfer__
#define __BLOCK_LOCAL__
#define __WORKGROUP_LOCAL__

// SetL2CacheHint adds what the runtime tells in `g_opSystemRunCfg` to an address: the machine's
// PAST_L2 (machine/gm.h). Named to the linker alone, whatever type the headers give it.
#define L2_CACHE_HINT
__attribute__((weak)) unsigned long long ascendopt_past_l2 __asm__("g_opSystemRunCfg") = 1ull << 56;

// Printing and dumping from a kernel are left out: the clock would count them.
#define ASCENDC_DUMP 0

#ifndef NDEBUG
#define NDEBUG
#endif
#undef assert
#define assert(...) ((void)0)
#define ASSERT(...)

// The key is a number by then: only its branch is compiled.
#define TILING_KEY_VAR ASCENDOPT_TILING_KEY

// Memories, as flags between the cube's pipes name them.
enum mem_t { L1 = 0, L0A, L0B, L0C, UB, BIAS_BUFFER };

// Registers of other chips' vector units, which some declarations name.
struct vector_align {};
struct vector_bool {};
struct vector_address {};

// Marks for a device profiler.
inline void asc_prof_start() {}
inline void asc_prof_stop() {}
namespace bisheng::cce {
inline void metrics_prof_start() {}
inline void metrics_prof_stop() {}
template <pipe_t> inline void mark_stamp(uint16_t) {}
}  // namespace bisheng::cce

#include "missing.h"
#include "dump.h"
