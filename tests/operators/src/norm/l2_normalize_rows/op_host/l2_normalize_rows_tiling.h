#ifndef L2_NORMALIZE_ROWS_TILING_H
#define L2_NORMALIZE_ROWS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(L2NormalizeRowsTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, length);
  TILING_DATA_FIELD_DEF(uint32_t, rowsPerCore);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(L2NormalizeRows, L2NormalizeRowsTilingData)
}  // namespace optiling
#endif
