// Tiling of the high-level library.
#pragma once

#include "detail/library_tiling.h"
#include "detail/log.h"
#include "detail/matmul_tiling.h"
