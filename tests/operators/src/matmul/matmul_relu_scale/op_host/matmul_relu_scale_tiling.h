#ifndef MATMUL_RELU_SCALE_TILING_H
#define MATMUL_RELU_SCALE_TILING_H
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulReluScaleTilingData)
  TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
  TILING_DATA_FIELD_DEF(uint32_t, coresM);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulReluScale, MatmulReluScaleTilingData)
}  // namespace optiling
#endif
