#ifndef MATMUL_BLOCKS_TILING_H
#define MATMUL_BLOCKS_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulBlocksTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, m);
  TILING_DATA_FIELD_DEF(uint32_t, n);
  TILING_DATA_FIELD_DEF(uint32_t, k);
  TILING_DATA_FIELD_DEF(uint32_t, baseM);
  TILING_DATA_FIELD_DEF(uint32_t, baseN);
  TILING_DATA_FIELD_DEF(uint32_t, baseK);
  TILING_DATA_FIELD_DEF(uint32_t, stepKa);
  TILING_DATA_FIELD_DEF(uint32_t, stepKb);
  TILING_DATA_FIELD_DEF(uint32_t, coreM);
  TILING_DATA_FIELD_DEF(uint32_t, coreN);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulBlocks, MatmulBlocksTilingData)
}  // namespace optiling
#endif
