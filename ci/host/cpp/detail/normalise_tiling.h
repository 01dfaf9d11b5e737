// Tilings of the normalisations of batches and groups, of the gradients of LayerNorm, and of Pad.
// Included by library_tiling.h, whose structures they fill in either form.
#pragma once

#include "detail/library_tiling.h"

namespace AscendC {
// Rows of `columns` floats, each rounded to 64, and `more` floats.
inline uint32_t rows_of_floats(uint32_t rows, int64_t columns, int64_t more) {
    const auto whole = [](int64_t n, int64_t grain) { return (n + grain - 1) / grain * grain; };
    return static_cast<uint32_t>((rows * whole(columns, 64) + whole(more, 8)) *
                                 static_cast<int64_t>(sizeof(float)));
}
inline int64_t size_of_dim(const ge::Shape& shape, size_t at) {
    return at < shape.GetDimNum() ? shape.GetDim(at) : 1;
}
// {B, S, stored H, H} or {B, S, H}.
template <class T> void set_rows(const ge::Shape& shape, int64_t original, T& tiling) {
    typename tiling::PlainOf<T>::type rows;
    rows.bLength = static_cast<uint32_t>(size_of_dim(shape, 0));
    rows.sLength = static_cast<uint32_t>(size_of_dim(shape, 1));
    rows.hLength = static_cast<uint32_t>(size_of_dim(shape, 2));
    rows.originalHLength = static_cast<uint32_t>(original);
    tiling::assign(tiling, rows);
}

// Five rows.
inline bool GetDeepNormMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, bool, uint32_t& max,
                                     uint32_t& min) {
    min = max = rows_of_floats(5, size_of_dim(shape, 2), 0);
    return shape.GetDimNum() == 3;
}
template <class T>
bool GetDeepNormTilingInfo(const ge::Shape& shape, const ge::Shape& original, uint32_t local_bytes,
                           uint32_t, bool, bool, T& tiling) {
    set_rows(shape, size_of_dim(original, 2), tiling);
    return local_bytes >= rows_of_floats(5, size_of_dim(shape, 2), 0);
}
// Five rows, and the moments of all.
inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                                          uint32_t& min) {
    const int64_t rows = size_of_dim(shape, 0) * size_of_dim(shape, 1);
    min = max = rows_of_floats(5, size_of_dim(shape, 2), 2 * ((rows + 7) / 8 * 8));
}
template <class T>
void GetLayerNormGradNDTilingInfo(const ge::Shape& shape, uint32_t, uint32_t, bool, T& tiling) {
    set_rows(shape, size_of_dim(shape, shape.GetDimNum() > 3 ? 3 : 2), tiling);
}
// Four rows, or parts of them.
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t& max,
                                              uint32_t& min) {
    min = rows_of_floats(4, 1, 0);
    max = rows_of_floats(4, size_of_dim(shape, 2), 0);
}
template <class T>
void GetLayerNormGradBetaNDTilingInfo(const ge::Shape& shape, uint32_t, uint32_t, bool, T& tiling) {
    set_rows(shape, size_of_dim(shape, shape.GetDimNum() > 3 ? 3 : 2), tiling);
}
// Gamma and beta of all batches, and four parts of the lanes.
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape& shape, const ge::Shape& original, uint32_t,
                                      bool, uint32_t& max, uint32_t& min, bool = false) {
    const int64_t affine = 2 * ((size_of_dim(original, 0) + 7) / 8 * 8);
    min = rows_of_floats(4, 1, affine);
    max = rows_of_floats(4, size_of_dim(shape, 1) * size_of_dim(shape, 2), affine);
    return shape.GetDimNum() == 3;
}
template <class T>
bool GetBatchNormNDTilingInfo(const ge::Shape& shape, const ge::Shape& original, uint32_t, uint32_t,
                              bool, T& tiling, bool = false) {
    tiling::BatchNormTiling split;
    split.originalBLength = static_cast<uint32_t>(size_of_dim(original, 0));
    split.meanVarSize = static_cast<uint32_t>(size_of_dim(shape, 1) * size_of_dim(shape, 2));
    tiling::assign(tiling, split);
    return shape.GetDimNum() == 3;
}
// Gamma and beta of all channels, and two channels.
inline void GetGroupNormMaxMinTmpSize(const ge::Shape& shape, uint32_t, bool, uint32_t,
                                      uint32_t& max, uint32_t& min) {
    const int64_t affine = 2 * ((size_of_dim(shape, 1) + 7) / 8 * 8);
    min = max = rows_of_floats(2, size_of_dim(shape, 2) * size_of_dim(shape, 3), affine);
}
template <class T>
void GetGroupNormNDTilingInfo(const ge::Shape& shape, uint32_t, uint32_t, bool, uint32_t groups,
                              T& tiling) {
    tiling::GroupNormTiling split;
    split.n = static_cast<uint32_t>(size_of_dim(shape, 0));
    split.c = static_cast<uint32_t>(size_of_dim(shape, 1));
    split.hw = static_cast<uint32_t>(size_of_dim(shape, 2) * size_of_dim(shape, 3));
    split.g = groups;
    split.d = groups == 0 ? 0 : split.c / groups;
    tiling::assign(tiling, split);
}

// The offsets of a row.
inline void GetPadMaxMinTmpSize(const ge::Shape& shape, uint32_t type_size, uint32_t& max,
                                uint32_t& min) {
    const int64_t block = 32 / std::max(type_size, 1U);
    const int64_t row = (size_of_dim(shape, 1) + block - 1) / block * block;
    min = max = static_cast<uint32_t>(row * static_cast<int64_t>(sizeof(int32_t)));
}
template <class T>
void PadTilingFunc(const ge::Shape& shape, const ge::Shape& original, uint32_t, uint32_t,
                   T& tiling) {
    tiling::PadTiling split;
    split.srcHeight = static_cast<uint32_t>(size_of_dim(shape, 0));
    split.srcWidth = static_cast<uint32_t>(size_of_dim(shape, 1));
    split.srcOriWidth = static_cast<uint32_t>(size_of_dim(original, 1));
    tiling::assign(tiling, split);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape&,
                                  uint32_t, uint32_t& max, uint32_t& min) {
    min = max = 0;
}
template <class T> void UnPadTilingFunc(const ge::Shape& shape, uint32_t, uint32_t, T& tiling) {
    tiling::UnPadTiling split;
    split.srcHeight = static_cast<uint32_t>(size_of_dim(shape, 0));
    split.srcWidth = static_cast<uint32_t>(size_of_dim(shape, 1));
    tiling::assign(tiling, split);
}
}  // namespace AscendC
