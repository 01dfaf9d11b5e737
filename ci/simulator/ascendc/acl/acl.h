// What headers that programs and kernels share include; a kernel calls no function of the runtime.
#pragma once

#include "acl_types.h"
