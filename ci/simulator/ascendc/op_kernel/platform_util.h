// What kernels of the ops-math layout ask of the chip: constants of dav-c220.
#pragma once

#include "../api/constants.h"

namespace Ops {
namespace Base {
__aicore__ inline constexpr uint32_t GetUbBlockSize() { return AscendC::ONE_BLK_SIZE; }
__aicore__ inline constexpr uint32_t GetVRegSize() { return AscendC::ONE_REPEAT_BYTE_SIZE; }
}  // namespace Base
}  // namespace Ops
