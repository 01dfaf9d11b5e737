// Division and rounding of sizes, as kernels of the ops-math layout write them.
#pragma once

#include "../api/constants.h"

namespace Ops {
namespace Base {
template <typename T, typename U> __aicore__ inline constexpr T CeilDiv(T value, U by) {
    return by == 0 ? value : static_cast<T>((value + by - 1) / by);
}
template <typename T, typename U> __aicore__ inline constexpr T CeilAlign(T value, U to) {
    return static_cast<T>(CeilDiv(value, to) * to);
}
template <typename T, typename U> __aicore__ inline constexpr T FloorDiv(T value, U by) {
    return by == 0 ? value : static_cast<T>(value / by);
}
template <typename T, typename U> __aicore__ inline constexpr T FloorAlign(T value, U to) {
    return static_cast<T>(FloorDiv(value, to) * to);
}
}  // namespace Base
}  // namespace Ops
