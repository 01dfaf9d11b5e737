#ifndef CUBIC_POLYNOMIAL_TILING_H
#define CUBIC_POLYNOMIAL_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(CubicPolynomialTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, c0);
  TILING_DATA_FIELD_DEF(float, c1);
  TILING_DATA_FIELD_DEF(float, c2);
  TILING_DATA_FIELD_DEF(float, c3);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(CubicPolynomial, CubicPolynomialTilingData)
}  // namespace optiling
#endif
