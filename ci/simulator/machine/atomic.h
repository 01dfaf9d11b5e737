// Atomic stores: how a copy from UB combines with what global memory holds.
#pragma once

#include <cstdint>

#include "machine.h"

namespace dav {

// dst[i] = operation(dst[i], src[i]) over `bytes` bytes of elements of `type`.
void combine(AtomicOperation operation, AtomicType type, uint8_t* dst, const uint8_t* src,
             uint64_t bytes);

// What is added so by several cores is not the same from run to run.
void warn_unordered_sum(const void* site);

}  // namespace dav
