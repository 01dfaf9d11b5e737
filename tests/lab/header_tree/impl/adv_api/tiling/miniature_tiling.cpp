#include "graph/tensor.h"

#include "adv_api/tiling_api.h"

namespace AscendC {
uint32_t GetMiniatureTmpSize(const ge::Shape& shape, const tiling::MiniatureTiling& tiling)
{
    return static_cast<uint32_t>(shape.GetDim(0)) + tiling.rows;
}
}  // namespace AscendC
