// The host-side tiling library of the miniature tree.
#pragma once

#include <kernel_tiling/kernel_tiling.h>

namespace AscendC {
// Scratch that a row of the miniature takes.
uint32_t GetMiniatureTmpSize(const ge::Shape& shape, const tiling::MiniatureTiling& tiling);
}  // namespace AscendC
