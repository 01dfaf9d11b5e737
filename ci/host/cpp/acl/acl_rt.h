// What tilings ask of the runtime: a version. None is installed.
#pragma once

#include <cstdint>

using aclError = int;
constexpr aclError ACL_SUCCESS = 0;
inline aclError aclsysGetVersionNum(const char*, int32_t*) { return ACL_SUCCESS + 1; }
