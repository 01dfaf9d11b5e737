// What headers that host sources share with the callers of a runtime take from it: results, and
// logging, whose lines go into the answer's log.
#pragma once

#include <cstdint>

#include "detail/log.h"

using aclError = int;
constexpr aclError ACL_SUCCESS = 0;

enum aclLogLevel { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 };
#define aclAppLog(level, function, file, line, ...) ascendopt_log(int(level), __VA_ARGS__)
