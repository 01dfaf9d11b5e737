// Scratch sizes and splits of the normalisations.
#include <algorithm>

#include "detail/library_tiling.h"

namespace AscendC {
namespace {
constexpr uint32_t kRowElements = 64;
constexpr uint32_t kRows = 5;

uint32_t dim(const ge::Shape& shape, size_t at) {
    return at < shape.GetDimNum() ? static_cast<uint32_t>(shape.GetDim(at)) : 1;
}

uint32_t scratch_of(uint32_t columns) {
    const uint32_t pitch = (columns + kRowElements - 1) / kRowElements * kRowElements;
    return kRows * pitch * static_cast<uint32_t>(sizeof(float));
}
}  // namespace

void GetLayerNormMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                               uint32_t& min) {
    min = max = scratch_of(dim(shape, 2));
}
void GetLayerNormMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, bool, bool, uint32_t& max,
                               uint32_t& min) {
    min = max = scratch_of(dim(shape, 1));
}
void GetLayerNormNDTilingInfo(const ge::Shape& shape, uint32_t, uint32_t, bool,
                              optiling::LayerNormTiling& tiling) {
    tiling.set_bLength(dim(shape, 0));
    tiling.set_sLength(dim(shape, 1));
    tiling.set_hLength(dim(shape, 2));
    tiling.set_originalHLength(shape.GetDimNum() > 3 ? dim(shape, 3) : dim(shape, 2));
}
void GetLayerNormNDTilingInfo(const ge::Shape& shape, uint32_t, uint32_t, bool, bool,
                              optiling::LayerNormSeparateTiling& tiling) {
    tiling.set_aLength(dim(shape, 0));
    tiling.set_rLength(dim(shape, 1));
}
bool GetRmsNormMaxMinTmpSize(const ge::Shape& shape, uint32_t, uint32_t& max, uint32_t& min, bool) {
    min = max = scratch_of(dim(shape, 2));
    return shape.GetDimNum() == 3;
}
bool GetRmsNormTilingInfo(const ge::Shape& shape, const ge::Shape& original, uint32_t local_bytes,
                          uint32_t, optiling::RmsNormTiling& tiling, bool) {
    tiling.set_bLength(dim(shape, 0));
    tiling.set_sLength(dim(shape, 1));
    tiling.set_hLength(dim(shape, 2));
    tiling.set_originalHLength(dim(original, 2));
    return shape.GetDimNum() == 3 && local_bytes >= scratch_of(dim(shape, 2));
}
// Blocks of 64 floats of which a Welford step keeps three, two or one, and a Normalize two rows for
// each of its own and for gamma and beta where those are narrower.
void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t, bool reuse,
                                   bool, uint32_t& max, uint32_t& min) {
    const uint32_t blocks = (dim(shape, 0) * dim(shape, 1) + kRowElements - 1) / kRowElements;
    min = (type_size == 2 ? 3 : reuse ? 1 : 2) * kRowElements * sizeof(float);
    max = std::max(1u, blocks) * min;
}
void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                                     uint32_t& min) {
    min = 4 * kRowElements * sizeof(float);
    max = 2 * (kRowElements + std::max(kRowElements, dim(shape, 0))) * sizeof(float);
}
void GetNormalizeMaxMinTmpSize(const ge::Shape& shape, uint32_t affine_size, uint32_t type_size,
                               bool, bool, bool, uint32_t& max, uint32_t& min) {
    const auto whole = [](uint32_t n, uint32_t grain) { return (n + grain - 1) / grain * grain; };
    const uint32_t rows = dim(shape, 0);
    const uint32_t row = whole(whole(dim(shape, 1), 32 / std::max(1u, type_size)), 8);
    min = std::max(whole(rows, 8), (affine_size == sizeof(float) ? 2 : 4) * row) * sizeof(float);
    max = 2 * row * (1 + whole(rows, 8)) * sizeof(float);
}
}  // namespace AscendC
