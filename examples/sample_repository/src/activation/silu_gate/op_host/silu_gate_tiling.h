#ifndef SILU_GATE_TILING_H
#define SILU_GATE_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SiluGateTilingData)
  TILING_DATA_FIELD_DEF(uint64_t, totalLength);    // elements of x
  TILING_DATA_FIELD_DEF(uint64_t, coreLength);     // elements a core owns, the last may own less
  TILING_DATA_FIELD_DEF(uint32_t, tileLength);     // elements of one round through the UB
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(SiluGate, SiluGateTilingData)
}  // namespace optiling

#endif  // SILU_GATE_TILING_H
