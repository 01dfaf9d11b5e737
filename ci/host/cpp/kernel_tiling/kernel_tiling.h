// Library tiling structs, for headers that host and kernel share.
#pragma once

#include "detail/library_tiling.h"
#include "detail/matmul_tiling.h"
