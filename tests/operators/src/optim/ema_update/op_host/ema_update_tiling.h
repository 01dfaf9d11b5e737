#ifndef EMA_UPDATE_TILING_H
#define EMA_UPDATE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(EmaUpdateTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, decay);
  TILING_DATA_FIELD_DEF(float, rest);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(EmaUpdate, EmaUpdateTilingData)
}  // namespace optiling
#endif
