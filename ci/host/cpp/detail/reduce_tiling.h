// Structures of the base library's tiling of reductions, which it computes for later chips. A host
// for this chip, too, may keep them with what it knows of the platform; the tiling is not here.
#pragma once

#include "detail/types.h"

namespace Ops::Base {
constexpr uint64_t CACHE_BUF_SIZE = 16 * 1024;

struct ReduceOpCompileInfo {
    uint64_t vectorCoreNum = 0;
    uint64_t ubSize = 0;
    uint64_t cacheLineSize = 0;
    uint64_t ubBlockSize = 0;
    uint64_t vRegSize = 0;
};
struct ReduceOpInputParam {
    uint32_t reservedSize = 0;
    uint32_t reservedNode = 0;
    ge::DataType inputDtype = ge::DT_UNDEFINED;
    ge::DataType promoteDtpye = ge::DT_UNDEFINED;
    std::vector<int64_t> axes;
    std::vector<int64_t> shape;
};
struct ReduceTilingKey {
    uint32_t patternID = 0;
    uint32_t loopARCount = 0;
    uint32_t loopInnerARCount = 0;
};
}  // namespace Ops::Base
