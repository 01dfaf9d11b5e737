#ifndef LAYER_NORM_ROWS_TILING_H
#define LAYER_NORM_ROWS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(LayerNormRowsTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rowNum);
  TILING_DATA_FIELD_DEF(uint32_t, rowLength);
  TILING_DATA_FIELD_DEF(uint32_t, rowLengthAlign);
  TILING_DATA_FIELD_DEF(uint32_t, formerCoreNum);  // these cores own formerRows rows,
  TILING_DATA_FIELD_DEF(uint32_t, formerRows);
  TILING_DATA_FIELD_DEF(uint32_t, tailRows);       // the others this many
  TILING_DATA_FIELD_DEF(float, epsilon);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(LayerNormRows, LayerNormRowsTilingData)
}  // namespace optiling
#endif
