// Helpers of tiling functions that older host sources expect from the framework.
#pragma once

#include "detail/ops_base.h"

template <class T> T* GetCompileInfoPtr(gert::TilingParseContext* context) {
    return context->GetCompiledInfo<T>();
}
template <class T> const T* GetCompileInfoPtr(gert::TilingContext* context) {
    return context->GetCompileInfo<T>();
}

#ifndef OPS_CHECK_NULL_WITH_CONTEXT
#define OPS_CHECK_NULL_WITH_CONTEXT(context, pointer) OP_CHECK_NULL_WITH_CONTEXT(context, pointer)
#endif
#ifndef OP_TILING_CHECK
#define OP_TILING_CHECK(condition, log, action) OP_CHECK_IF(condition, log, action)
#endif
#ifndef VECTOR_INNER_ERR_REPORT_TILIING
#define VECTOR_INNER_ERR_REPORT_TILIING(op, ...) ascendopt_log(DLOG_ERROR, __VA_ARGS__)
#endif
