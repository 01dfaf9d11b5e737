#ifndef BIAS_ADD_TILING_H
#define BIAS_ADD_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(BiasAddTilingData)
  TILING_DATA_FIELD_DEF(int64_t, rows);
  TILING_DATA_FIELD_DEF(int64_t, columns);
  TILING_DATA_FIELD_DEF(int64_t, rowsPerCore);
  TILING_DATA_FIELD_DEF(int64_t, columnTile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BiasAdd, BiasAddTilingData)
}
#endif
