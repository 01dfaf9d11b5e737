#ifndef SCALAR_SCALE_TILING_H
#define SCALAR_SCALE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ScalarScaleTilingData)
  TILING_DATA_FIELD_DEF(int64_t, total);
  TILING_DATA_FIELD_DEF(int64_t, perCore);
  TILING_DATA_FIELD_DEF(int64_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScalarScale, ScalarScaleTilingData)
}
#endif
