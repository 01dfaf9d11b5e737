#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MiniatureTiling)
TILING_DATA_FIELD_DEF(uint32_t, rows);  // of a tile
TILING_DATA_FIELD_DEF_ARR(uint16_t, 4, sizes);
END_TILING_DATA_DEF;
}
