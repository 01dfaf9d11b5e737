#ifndef FLOAT_TO_HALF_CLAMP_TILING_H
#define FLOAT_TO_HALF_CLAMP_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(FloatToHalfClampTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, limit);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(FloatToHalfClamp, FloatToHalfClampTilingData)
}  // namespace optiling
#endif
