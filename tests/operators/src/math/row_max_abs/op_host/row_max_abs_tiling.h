#ifndef OP_HOST_ROW_MAX_ABS_TILING_H
#define OP_HOST_ROW_MAX_ABS_TILING_H
#include "register/tilingdata_base.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowMaxAbsTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(uint32_t, stride);       // elements between rows in the UB
TILING_DATA_FIELD_DEF(uint32_t, coreRows);
TILING_DATA_FIELD_DEF(uint32_t, tileRows);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(RowMaxAbs, RowMaxAbsTilingData)

struct RowMaxAbsCompileInfo {
    uint32_t coreNum = 0;
    uint64_t ubSize = 0;
};
}  // namespace optiling
#endif
