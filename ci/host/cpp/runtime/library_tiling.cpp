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

constexpr uint32_t kFractalRows = 16;
constexpr uint32_t kSorted = 32;  // elements that one instruction sorts
constexpr uint32_t kPair = 8;     // bytes of a value and its index
constexpr uint32_t kIndex = 4;
}  // namespace

uint32_t softmax_scratch(const ge::Shape& shape, uint32_t rows_at_once, bool all_rows) {
    const Rows rows = rows_of(shape);
    return rows_at_once * (all_rows ? rows.count : 1) * row_scratch(rows.length);
}

tiling::SoftMaxTiling softmax_split(const ge::Shape& shape, uint32_t max_type_size,
                                    uint32_t local_bytes) {
    const Rows rows = rows_of(shape);
    const uint32_t block = kBlockBytes / std::max(max_type_size, 1U);
    const uint32_t fit = std::max(local_bytes / row_scratch(rows.length), 1U);
    const uint32_t split = std::min(fit, std::max(rows.count, 1U));
    const uint32_t tail = rows.count % split;
    tiling::SoftMaxTiling found;
    found.srcM = rows.count;
    found.srcK = rows.length;
    found.srcSize = rows.count * rows.length;
    found.outMaxM = rows.count;
    found.outMaxK = block;
    found.outMaxSize = rows.count * block;
    found.splitM = split;
    found.splitK = rows.length;
    found.splitSize = split * rows.length;
    found.reduceM = split;
    found.reduceK = block;
    found.reduceSize = split * block;
    found.rangeM = rows.count / split;
    found.tailM = tail;
    found.tailSplitSize = tail * rows.length;
    found.tailReduceSize = tail * block;
    return found;
}

bool basic_block(uint32_t rows, uint32_t columns) {
    return rows % 8 == 0 && columns >= 64 && columns < 2048 && columns % 64 == 0;
}

tiling::TopkTiling topk_split(int32_t inner, int32_t outer, int32_t k, uint32_t type_size) {
    const int32_t pairs = inner * static_cast<int32_t>(kPair / sizeof(float));
    tiling::TopkTiling found;
    found.allDataSize = inner * outer;
    found.innerDataSize = pairs;
    found.tmpLocalSize = 2 * pairs * (type_size == sizeof(float) ? 1 : 2);
    found.sortRepeat = static_cast<uint32_t>(inner) / kSorted;
    found.mrgSortRepeat = (static_cast<int32_t>(found.sortRepeat) + 3) / 4;
    found.kAlignFourBytes = (k + 7) / 8 * 8;
    found.kAlignTwoBytes = (k + 15) / 16 * 16;
    return found;
}

bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outer,
                          bool, bool indices_given, TopKMode mode, bool largest, uint32_t type_size,
                          uint32_t& max, uint32_t& min) {
    // Sorted pairs and a second place for them, and the indices and negated values that the sort
    // makes itself: of a row, or of all rows in the small mode.
    const int32_t rows = mode == TopKMode::TOPK_NSMALL ? outer : 1;
    const auto elements = static_cast<uint32_t>(std::max(inner * rows, 1));
    min = 2 * elements * kPair + (indices_given ? 0 : elements * kIndex) +
          (largest ? 0 : elements * type_size);
    max = min;
    return true;
}

tiling::ConfusionTransposeTiling transpose_split(const ge::Shape& shape, uint32_t,
                                                 uint32_t type_size, uint32_t kind) {
    tiling::ConfusionTransposeTiling found;
    const Rows rows = rows_of(shape);
    if (kind == 7) {
        const uint32_t block = kBlockBytes / std::max(type_size, 1U);
        found.param0 = block;
        found.param1 = rows.count;
        found.param2 = rows.length;
        found.param3 = rows.count / kFractalRows;
        found.param4 = rows.count * block * type_size / kBlockBytes;
        found.param5 = rows.length / block;
    }
    return found;
}

void GetTransposeMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t kind,
                               uint32_t& max, uint32_t& min) {
    const auto elements = static_cast<uint32_t>(std::max<int64_t>(shape.GetShapeSize(), 1));
    min = max = kind == 7 ? 0 : 2 * elements * type_size;
}

uint32_t select_scratch(const ge::Shape& mask, uint32_t mask_type_size, bool all_rows) {
    const Rows rows = rows_of(mask);
    const uint32_t count = all_rows ? std::max(rows.count, 1U) : 1;
    const uint32_t wide = count * rows.length * std::max(mask_type_size, 2U);
    return (wide + count * rows.length + kRepeatBytes - 1) / kRepeatBytes * kRepeatBytes +
           kRepeatBytes;
}

void GetMeanMaxMinTmpSize(uint32_t n, uint32_t, uint32_t accumulate_size, bool, uint32_t& max,
                          uint32_t& min) {
    const uint32_t bytes = n * std::max<uint32_t>(accumulate_size, sizeof(float));
    min = max = (bytes + kRepeatBytes - 1) / kRepeatBytes * kRepeatBytes + kRepeatBytes;
}
// Blocks of one value, of the rows of one group at least; behind them those rows with a gap where
// they are no whole blocks. Bytes go through halves, both sides of them.
void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& from,
                               const ge::Shape& to, uint32_t type_size, bool, uint32_t& max,
                               uint32_t& min) {
    const uint32_t size = std::max(type_size, 2U);
    const uint32_t block = kBlockBytes / size;
    const Rows rows = rows_of(to);
    const uint32_t row = (rows.length + block - 1) / block * kBlockBytes;
    const uint32_t apart = rows.length % block == 0 ? 0 : row;
    uint32_t wide = 0;
    for (const ge::Shape* shape : {&from, &to})
        wide += (static_cast<uint32_t>(std::max<int64_t>(shape->GetShapeSize(), 1)) * size +
                 kBlockBytes - 1) /
                kBlockBytes * kBlockBytes;
    const uint32_t cast = type_size == 1 ? wide : 0;
    const uint32_t groups = (rows.count + block - 1) / block;
    min = block * (kBlockBytes + apart) + cast;
    max = groups * block * (kBlockBytes + apart) + cast;
}
void GetSumMaxMinTmpSize(uint32_t n, uint32_t type_size, bool reuse, uint32_t& max, uint32_t& min) {
    GetMeanMaxMinTmpSize(n, type_size, type_size, reuse, max, min);
}

void reduction_scratch(const ge::Shape& shape, ge::DataType type, ReducePattern, uint32_t& max,
                       uint32_t& min) {
    const auto size = static_cast<uint32_t>(std::max(ge::GetSizeByDataType(type), 1));
    // Bytes are reduced as halves, with a row of results.
    const uint32_t length = rows_of(shape).length;
    const uint32_t bytes = size == 1 ? 2 * (length * 2 + kBlockBytes) + kBlockBytes : length * size;
    min = max = (bytes + kRepeatBytes - 1) / kRepeatBytes * kRepeatBytes;
}

void elementwise_scratch(const ge::Shape& shape, uint32_t buffers, uint32_t& max, uint32_t& min) {
    const auto elements = static_cast<uint32_t>(std::max<int64_t>(shape.GetShapeSize(), 1));
    min = buffers * kRepeatBytes;
    max = std::max(buffers * elements * static_cast<uint32_t>(sizeof(float)), min);
}

// The last axis takes none here; there it takes more, and some callers swap the two flags.
void GetCumSumMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, bool, uint32_t& max,
                            uint32_t& min) {
    const size_t rank = shape.GetDimNum();
    const auto row =
        static_cast<uint32_t>(rank > 0 ? std::max<int64_t>(shape.GetDim(rank - 1), 1) : 1);
    max = min = 2 * ((row + 63) / 64 * 64) * static_cast<uint32_t>(sizeof(float));
}
}  // namespace AscendC
