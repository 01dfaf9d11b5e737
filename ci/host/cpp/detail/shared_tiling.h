// Tiling structures of the high-level API as plain data, which newer operators share between host
// and kernel. Their fields are those of the classes with setters.
#pragma once

#include "detail/library_tiling.h"
#include "detail/matmul_tiling.h"

#ifndef ASCENDOPT_ASC_TILING
#define ASCENDOPT_MEMBER(name) int32_t name;
struct alignas(8) TCubeTiling {
    ASCENDOPT_CUBE_TILING(ASCENDOPT_MEMBER)
};
#undef ASCENDOPT_MEMBER
namespace AscendC {
namespace tiling {
using ::TCubeTiling;
}
}  // namespace AscendC
#endif
