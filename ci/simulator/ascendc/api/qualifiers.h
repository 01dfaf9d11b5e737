// The qualifiers and macros of the AscendC API's own headers, over what the device compiler and the
// operator build put before a kernel's first line.
#pragma once

#include "../../device/compiler.h"
#include "../../device/operator_build.h"

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

#define ASCEND_IS_AIV (::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC (::g_coreType == ::AscendC::AIC)
#define ASCEND_IS_NOT_AIV (::g_coreType != ::AscendC::AIV)
#define ASCEND_IS_NOT_AIC (::g_coreType != ::AscendC::AIC)

// What records a kernel's steps on a device.
#define TRACE_START(...)
#define TRACE_STOP(...)
#define MIX_LOG(...)

// Marks that only steer the operator build.
#define ENABLE_DETERMINISTIC(...)
#define ENABLE_PRINTF(...)
#define ENABLE_PRINTF_DUMP_SIZE(...)
#define __tiling_data_ptr__ __gm__ const
#define REGISTER_TILING_FOR_TILINGKEY(...)
#define REGISTER_NONE_TILING
#define ASCENDC_TPL_SEL_PARAM(...)

// The structure that GET_TILING_DATA reads where the definition registers none.
#define REGISTER_TILING_DEFAULT(...) using AscendOptTilingData [[maybe_unused]] = __VA_ARGS__

namespace AscendC {
constexpr int32_t MIX = 0;
constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
}  // namespace AscendC

// A kernel for both kinds of cores is built twice. The name is global, as in the toolkit.
#ifdef __DAV_CUBE__
constexpr int32_t g_coreType = AscendC::AIC;
#else
constexpr int32_t g_coreType = AscendC::AIV;
#endif
