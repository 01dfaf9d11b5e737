#ifndef HUBER_LOSS_TILING_H
#define HUBER_LOSS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HuberLossTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, delta);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HuberLoss, HuberLossTilingData)
}  // namespace optiling
#endif
