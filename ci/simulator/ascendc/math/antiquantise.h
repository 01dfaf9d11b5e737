// AscendAntiQuant: integers to floats, (x + offset) * scale, with one of both for the whole tensor,
// a column or a group of rows.
#pragma once

#include "steps.h"

namespace AscendC {

struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

// One row of integers as halves, or as floats where the result is a bfloat16.
template <typename Wide, typename From>
__aicore__ inline void antiquant_widen(const LocalTensor<Wide>& wide, const LocalTensor<From>& src,
                                       const LocalTensor<half>& space, uint32_t count) {
    if constexpr (IsSameType<Wide, half>::value) {
        Cast(wide, src, RoundMode::CAST_NONE, count);
    } else {
        Cast(space, src, RoundMode::CAST_NONE, count);
        pipe_barrier(PIPE_V);
        Cast(wide, space, RoundMode::CAST_NONE, count);
    }
    pipe_barrier(PIPE_V);
}
template <typename Wide, typename To>
__aicore__ inline void antiquant_store(const LocalTensor<To>& dst, const LocalTensor<Wide>& wide,
                                       uint32_t count) {
    if constexpr (!IsSameType<Wide, To>::value) {
        Cast(dst, wide, RoundMode::CAST_RINT, count);
        pipe_barrier(PIPE_V);
    }
}

// Bytes of the scratch for `count` elements of a row at once: a float row, one of a parameter, and
// the integers as halves; nothing where the result is a half.
template <typename To> struct AntiQuantSpace {
    using Wide = typename Conditional<IsSameType<To, half>::value, half, float>::type;
    static constexpr bool direct = IsSameType<To, half>::value;
    __aicore__ AntiQuantSpace(const LocalTensor<uint8_t>& scratch, uint32_t count) {
        if constexpr (!direct) {
            const uint32_t most = scratch.GetSize() / (2 * sizeof(float) + sizeof(half)) / 32 * 32;
            if (most == 0) dav_fail("AscendAntiQuant was given too little temporary space.");
            part = count < most ? count : most;
            const uint32_t room = (part + 31) / 32 * 32 * uint32_t(sizeof(float));
            wide = scratch.template ReinterpretCast<Wide>();
            parameter = scratch[room].template ReinterpretCast<Wide>();
            halves = scratch[2 * room].template ReinterpretCast<half>();
        } else {
            part = count;
        }
    }
    // A parameter of the row, as wide as the computation.
    __aicore__ LocalTensor<Wide> widened(const LocalTensor<To>& given, uint32_t count) const {
        if constexpr (direct) {
            return given;
        } else {
            Cast(parameter, given, RoundMode::CAST_NONE, count);
            pipe_barrier(PIPE_V);
            return parameter;
        }
    }
    uint32_t part;
    LocalTensor<Wide> wide;
    LocalTensor<Wide> parameter;
    LocalTensor<half> halves;
};

// A row of `count` elements with vectors of parameters, or with scalars.
template <typename From, typename To, bool has_offset>
__aicore__ inline void antiquant_row(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                     const LocalTensor<To>& offset, const LocalTensor<To>& scale,
                                     const AntiQuantSpace<To>& space, uint32_t count) {
    for (uint32_t at = 0; at < count; at += space.part) {
        const uint32_t part = count - at < space.part ? count - at : space.part;
        LocalTensor<typename AntiQuantSpace<To>::Wide> wide = space.wide;
        if constexpr (AntiQuantSpace<To>::direct) wide = dst[at];
        antiquant_widen(wide, src[at], space.halves, part);
        if constexpr (has_offset) {
            Add(wide, wide, space.widened(offset[at], part), int32_t(part));
            pipe_barrier(PIPE_V);
        }
        Mul(wide, wide, space.widened(scale[at], part), int32_t(part));
        pipe_barrier(PIPE_V);
        antiquant_store(dst[at], wide, part);
    }
}
template <typename From, typename To>
__aicore__ inline void antiquant_scalars(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                         float offset, float scale, const AntiQuantSpace<To>& space,
                                         uint32_t count) {
    using Wide = typename AntiQuantSpace<To>::Wide;
    for (uint32_t at = 0; at < count; at += space.part) {
        const uint32_t part = count - at < space.part ? count - at : space.part;
        LocalTensor<Wide> wide = space.wide;
        if constexpr (AntiQuantSpace<To>::direct) wide = dst[at];
        antiquant_widen(wide, src[at], space.halves, part);
        Adds(wide, wide, Wide(offset), int32_t(part));
        pipe_barrier(PIPE_V);
        Muls(wide, wide, Wide(scale), int32_t(part));
        pipe_barrier(PIPE_V);
        antiquant_store(dst[at], wide, part);
    }
}

template <typename T> __aicore__ inline float scalar_of(const T& value) {
    if constexpr (IsSameType<T, bfloat16_t>::value) {
        return ToFloat(value);
    } else {
        return float(value);
    }
}

template <typename From, typename To, bool transposed, bool has_offset>
__aicore__ inline void antiquant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                 const LocalTensor<To>& offset, const LocalTensor<To>& scale,
                                 const LocalTensor<uint8_t>& scratch, uint32_t k,
                                 const AntiQuantShapeInfo& shape) {
    if (shape.scaleHeight == 0) {
        dav_fail("AscendAntiQuant wants the shape of its scale: pass an AntiQuantShapeInfo.");
    }
    if constexpr (!transposed) {
        const uint32_t columns = shape.scaleWidth;
        const uint32_t group = k / shape.scaleHeight;
        const AntiQuantSpace<To> space(scratch, columns);
        for (uint32_t row = 0; row < k; ++row) {
            const uint32_t at = row / group * columns;
            antiquant_row<From, To, has_offset>(dst[row * columns], src[row * columns], offset[at],
                                                scale[at], space, columns);
        }
    } else {
        const uint32_t group = k / shape.scaleWidth;
        const AntiQuantSpace<To> space(scratch, group);
        for (uint32_t i = 0; i < shape.scaleHeight * shape.scaleWidth; ++i) {
            order_pipes<HardEvent::V_S>();
            const float shift = has_offset ? scalar_of(offset.GetValue(i)) : 0.0f;
            const float factor = scalar_of(scale.GetValue(i));
            order_pipes<HardEvent::S_V>();
            antiquant_scalars<From, To>(dst[i * group], src[i * group], shift, factor, space,
                                        group);
        }
    }
}

// By channel, with an offset and without; then by tensor.
template <typename From, typename To, bool isTranspose>
__aicore__ inline void AscendAntiQuant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                       const LocalTensor<To>& offset, const LocalTensor<To>& scale,
                                       const LocalTensor<uint8_t>& sharedTmpBuffer,
                                       const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {
    antiquant<From, To, isTranspose, true>(dst, src, offset, scale, sharedTmpBuffer, k, shapeInfo);
}
template <typename From, typename To, bool isTranspose>
__aicore__ inline void AscendAntiQuant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                       const LocalTensor<To>& scale,
                                       const LocalTensor<uint8_t>& sharedTmpBuffer,
                                       const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {
    antiquant<From, To, isTranspose, false>(dst, src, scale, scale, sharedTmpBuffer, k, shapeInfo);
}
template <typename From, typename To, bool isTranspose>
__aicore__ inline void AscendAntiQuant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                       const LocalTensor<To>& offset, const LocalTensor<To>& scale,
                                       const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {
    AscendAntiQuant<From, To, isTranspose>(dst, src, offset, scale, free_scratch(), k, shapeInfo);
}
template <typename From, typename To, bool isTranspose>
__aicore__ inline void AscendAntiQuant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                       const To offset, const To scale,
                                       const LocalTensor<uint8_t>& sharedTmpBuffer,
                                       const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {
    const uint32_t count = src.GetSize();
    antiquant_scalars<From, To>(dst, src, scalar_of(offset), scalar_of(scale),
                                AntiQuantSpace<To>(sharedTmpBuffer, count), count);
}
template <typename From, typename To, bool isTranspose>
__aicore__ inline void AscendAntiQuant(const LocalTensor<To>& dst, const LocalTensor<From>& src,
                                       const To offset, const To scale, const uint32_t k,
                                       const AntiQuantShapeInfo& shapeInfo = {}) {
    AscendAntiQuant<From, To, isTranspose>(dst, src, offset, scale, free_scratch(), k, shapeInfo);
}

}  // namespace AscendC
