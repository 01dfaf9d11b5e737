#ifndef ROW_BIAS_RELU_TILING_H
#define ROW_BIAS_RELU_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowBiasReluTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, length);
  TILING_DATA_FIELD_DEF(uint32_t, rowsPerCore);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowBiasRelu, RowBiasReluTilingData)
}  // namespace optiling
#endif
