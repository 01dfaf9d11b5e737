// Tiling structures of the high-level API as plain data, which newer operators share between host
// and kernel. Their fields are those of the classes with setters.
#pragma once

#include "detail/library_tiling.h"
#include "detail/matmul_tiling.h"

#ifndef ASCENDOPT_ASC_TILING
namespace AscendC {
// Rows and columns of a fractal. Operators that do not include the library's tiling have a constant
// of this name of their own.
constexpr uint32_t BLOCK_CUBE = 16;
}  // namespace AscendC
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
