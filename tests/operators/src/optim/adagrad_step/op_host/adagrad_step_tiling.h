#ifndef ADAGRAD_STEP_TILING_H
#define ADAGRAD_STEP_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AdagradStepTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, rate);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AdagradStep, AdagradStepTilingData)
}  // namespace optiling
#endif
