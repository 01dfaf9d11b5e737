#ifndef HYPOTENUSE_TILING_H
#define HYPOTENUSE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HypotenuseTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Hypotenuse, HypotenuseTilingData)
}  // namespace optiling
#endif
