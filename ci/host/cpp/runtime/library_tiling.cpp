// Scratch sizes and splits of the high-level library.
#include "detail/library_tiling.h"

#include <algorithm>

namespace AscendC {
namespace {
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kRepeatBytes = 256;

struct Rows {
    uint32_t count;
    uint32_t length;
};

Rows rows_of(const ge::Shape& shape) {
    const auto dims = shape.GetDims();
    if (dims.empty()) {
        return {1, 1};
    }
    const auto length = static_cast<uint32_t>(std::max<int64_t>(dims.back(), 1));
    return {static_cast<uint32_t>(shape.GetShapeSize() / length), length};
}

// One row as float, one block for its maximum and one repeat for its reduction.
uint32_t row_scratch(uint32_t length) {
    return length * sizeof(float) + kBlockBytes + kRepeatBytes;
}

void fill(const ge::Shape& shape, uint32_t max_type_size, uint32_t local_bytes,
          optiling::SoftMaxTiling& tiling) {
    const Rows rows = rows_of(shape);
    const uint32_t block = kBlockBytes / std::max(max_type_size, 1U);
    const uint32_t fit = std::max(local_bytes / row_scratch(rows.length), 1U);
    const uint32_t split = std::min(fit, std::max(rows.count, 1U));
    tiling.set_srcM(rows.count);
    tiling.set_srcK(rows.length);
    tiling.set_srcSize(rows.count * rows.length);
    tiling.set_outMaxM(rows.count);
    tiling.set_outMaxK(block);
    tiling.set_outMaxSize(rows.count * block);
    tiling.set_splitM(split);
    tiling.set_splitK(rows.length);
    tiling.set_splitSize(split * rows.length);
    tiling.set_reduceM(split);
    tiling.set_reduceK(block);
    tiling.set_reduceSize(split * block);
    tiling.set_rangeM(rows.count / split);
    const uint32_t tail = rows.count % split;
    tiling.set_tailM(tail);
    tiling.set_tailSplitSize(tail * rows.length);
    tiling.set_tailReduceSize(tail * block);
}
}  // namespace

uint32_t GetSoftMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool) {
    return row_scratch(rows_of(shape).length);
}
uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& shape, uint32_t, bool) {
    const Rows rows = rows_of(shape);
    return rows.count * row_scratch(rows.length);
}
uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& shape, uint32_t size, uint32_t, bool, bool,
                                     bool) {
    return GetSoftMaxMinTmpSize(shape, size, false);
}
uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& shape, uint32_t size, uint32_t, bool, bool,
                                     bool) {
    return GetSoftMaxMaxTmpSize(shape, size, false);
}
uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& shape, uint32_t size, bool, bool) {
    return 3 * GetSoftMaxMinTmpSize(shape, size, false);
}
uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& shape, uint32_t size, bool, bool) {
    return 3 * GetSoftMaxMaxTmpSize(shape, size, false);
}

void SoftMaxTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                       optiling::SoftMaxTiling& tiling) {
    fill(shape, type_size, local_bytes, tiling);
}
void SoftMaxFlashV2TilingFunc(const ge::Shape& shape, uint32_t, uint32_t max_type_size,
                              uint32_t local_bytes, optiling::SoftMaxTiling& tiling, bool, bool) {
    fill(shape, max_type_size, local_bytes, tiling);
}
void SoftMaxGradTilingFunc(const ge::Shape& shape, uint32_t type_size, uint32_t local_bytes,
                           optiling::SoftMaxTiling& tiling, bool) {
    fill(shape, type_size, local_bytes / 3, tiling);
}

void GetMeanMaxMinTmpSize(uint32_t n, uint32_t, uint32_t accumulate_size, bool, uint32_t& max,
                          uint32_t& min) {
    const uint32_t bytes = n * std::max<uint32_t>(accumulate_size, sizeof(float));
    min = max = (bytes + kRepeatBytes - 1) / kRepeatBytes * kRepeatBytes + kRepeatBytes;
}
void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape&,
                               const ge::Shape& to, uint32_t type_size, bool, uint32_t& max,
                               uint32_t& min) {
    const auto elements = static_cast<uint32_t>(std::max<int64_t>(to.GetShapeSize(), 1));
    min = kRepeatBytes * kBlockBytes / std::max(type_size, 1U);
    max = std::max(elements * type_size, min);
}
void GetSumMaxMinTmpSize(uint32_t n, uint32_t type_size, bool reuse, uint32_t& max, uint32_t& min) {
    GetMeanMaxMinTmpSize(n, type_size, type_size, reuse, max, min);
}

void reduction_scratch(const ge::Shape& shape, ge::DataType type, ReducePattern, uint32_t& max,
                       uint32_t& min) {
    const auto size = static_cast<uint32_t>(std::max(ge::GetSizeByDataType(type), 1));
    const uint32_t bytes = rows_of(shape).length * size;
    min = max = (bytes + kRepeatBytes - 1) / kRepeatBytes * kRepeatBytes;
}

void elementwise_scratch(const ge::Shape& shape, uint32_t buffers, uint32_t& max, uint32_t& min) {
    const auto elements = static_cast<uint32_t>(std::max<int64_t>(shape.GetShapeSize(), 1));
    min = buffers * kRepeatBytes;
    max = std::max(buffers * elements * static_cast<uint32_t>(sizeof(float)), min);
}
}  // namespace AscendC
