// Every instruction and hook that a kernel may call; force-included by the kernel headers.
#pragma once

#include "intrinsics_types.h"
#include "types.h"
#include "intrinsics_scalar.h"
#include "intrinsics_sync_copy.h"
#include "intrinsics_vector.h"
#include "intrinsics_cube.h"
#include "intrinsics_matmul.h"
