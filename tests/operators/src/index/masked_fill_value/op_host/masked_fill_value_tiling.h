#ifndef MASKED_FILL_VALUE_TILING_H
#define MASKED_FILL_VALUE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MaskedFillValueTilingData)
  TILING_DATA_FIELD_DEF(uint64_t, length);
  TILING_DATA_FIELD_DEF(uint64_t, bigLength);     // elements of each of the first bigNum cores
  TILING_DATA_FIELD_DEF(uint64_t, smallLength);
  TILING_DATA_FIELD_DEF(uint32_t, bigNum);
  TILING_DATA_FIELD_DEF(uint32_t, tileLength);
  TILING_DATA_FIELD_DEF(float, value);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MaskedFillValue, MaskedFillValueTilingData)
}  // namespace optiling
#endif
