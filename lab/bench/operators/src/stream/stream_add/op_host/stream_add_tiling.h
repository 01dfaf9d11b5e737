#ifndef STREAM_ADD_TILING_H
#define STREAM_ADD_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(StreamAddTilingData)
  TILING_DATA_FIELD_DEF(int64_t, total);
  TILING_DATA_FIELD_DEF(int64_t, perCore);
  TILING_DATA_FIELD_DEF(int64_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(StreamAdd, StreamAddTilingData)
}
#endif
