#ifndef LEAKY_RELU_SHIFT_TILING_H
#define LEAKY_RELU_SHIFT_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(LeakyReluShiftTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, shift);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(LeakyReluShift, LeakyReluShiftTilingData)
}  // namespace optiling
#endif
