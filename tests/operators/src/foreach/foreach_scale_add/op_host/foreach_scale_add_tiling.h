#ifndef FOREACH_SCALE_ADD_TILING_H
#define FOREACH_SCALE_ADD_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
constexpr uint32_t MAX_TENSORS = 64;

BEGIN_TILING_DATA_DEF(ForeachScaleAddTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, tensorNum);
  TILING_DATA_FIELD_DEF(uint32_t, tileLength);
  TILING_DATA_FIELD_DEF(float, alpha);
  TILING_DATA_FIELD_DEF_ARR(uint64_t, MAX_TENSORS, lengths);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ForeachScaleAdd, ForeachScaleAddTilingData)
}  // namespace optiling
#endif
