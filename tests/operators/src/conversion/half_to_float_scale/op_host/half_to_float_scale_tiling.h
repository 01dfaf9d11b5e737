#ifndef HALF_TO_FLOAT_SCALE_TILING_H
#define HALF_TO_FLOAT_SCALE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HalfToFloatScaleTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HalfToFloatScale, HalfToFloatScaleTilingData)
}  // namespace optiling
#endif
