// The logging macros that some host sources take from the operator interface's headers.
#pragma once

#include "detail/log.h"

#ifndef OP_LOGE
#define OP_LOGE(op, ...) ascendopt_log(DLOG_ERROR, __VA_ARGS__)
#endif
#ifndef OP_LOGW
#define OP_LOGW(op, ...) ascendopt_log(DLOG_WARN, __VA_ARGS__)
#endif
#ifndef OP_LOGI
#define OP_LOGI(op, ...) ascendopt_log(DLOG_INFO, __VA_ARGS__)
#endif
#ifndef OP_LOGD
#define OP_LOGD(op, ...) ascendopt_log(DLOG_DEBUG, __VA_ARGS__)
#endif
