// What tilings ask of the runtime: a version. None is installed.
#pragma once

#include "acl/acl_base.h"

inline aclError aclsysGetVersionNum(const char*, int32_t*) { return ACL_SUCCESS + 1; }
