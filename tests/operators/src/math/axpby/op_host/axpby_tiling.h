#ifndef AXPBY_TILING_H
#define AXPBY_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AxpbyTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, alpha);
  TILING_DATA_FIELD_DEF(float, beta);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Axpby, AxpbyTilingData)
}  // namespace optiling
#endif
