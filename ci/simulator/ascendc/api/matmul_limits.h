// What the Matmul API's block does not do: a kernel that asks for it is refused with a sentence.
// The switches that only say which calls a kernel leaves out (enableInit, enableEnd, enableSetBias
// and their like), isMsgReuse, intrinsicsCheck and batchMode change neither what is computed nor
// the block's copies. enVecND2NZ, enableL1CacheUB and isCO1Shared have no effect on this chip, as
// the API's documentation says.
#pragma once

#include "matmul_types.h"

// What a kernel registers that the library calls at copies.
template <auto... CALLS> struct MatmulCallBackFunc {
    static constexpr bool calls = ((CALLS != nullptr) || ...);
};

namespace AscendC {

// What such a function of the output copy is given; kernels define it also where none registers it.
struct DataCopyOutParams {
    uint8_t quantMode = 0;
    uint16_t cBurstNum = 0;
    uint16_t burstLen = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    uint16_t oriNSize = 0;
    bool enUnitFlag = false;
    uint64_t quantScalar = 0;
    int curM = 0;
    int curN = 0;
    uint64_t cbufWorkspaceAddr = 0;
};

#define ASC_REAL_HEADERS "; compile it against the real headers (--asc-headers)."

template <class CALLBACK> struct CallsBack {
    static constexpr bool value = CALLBACK::calls;
};
template <> struct CallsBack<void> {
    static constexpr bool value = false;
};

template <class A, class B, class CALLBACK>
__aicore__ constexpr bool within_limits(const MatmulConfig&) {
    static_assert(IsSameType<typename A::T, typename B::T>::value,
                  "Our Matmul multiplies A and B of one type" ASC_REAL_HEADERS);
    static_assert(!CallsBack<CALLBACK>::value, "Our Matmul calls nothing back" ASC_REAL_HEADERS);
    return true;
}

// The switches of a configuration, each by its own sentence.
template <const auto& CONFIG> struct MatmulLimits {
    static constexpr MatmulConfig c = ToMatmulConfig(CONFIG);
    static_assert(!c.isNBatch, "Our Matmul has no isNBatch" ASC_REAL_HEADERS);
    static_assert(!c.intraBlockPartSum, "Our Matmul has no intraBlockPartSum" ASC_REAL_HEADERS);
    static_assert(!c.isPartialOutput, "Our Matmul has no isPartialOutput" ASC_REAL_HEADERS);
    static_assert(!c.enableMixDualMaster, "Our Matmul has no enableMixDualMaster" ASC_REAL_HEADERS);
    static_assert(!c.isEnableChannelSplit,
                  "Our Matmul has no isEnableChannelSplit" ASC_REAL_HEADERS);
    static_assert(!c.enableStaticPadZeros,
                  "Our Matmul has no enableStaticPadZeros" ASC_REAL_HEADERS);
    static_assert(!c.isA2B2Shared, "Our Matmul has no isA2B2Shared" ASC_REAL_HEADERS);
    static_assert(!c.enableDoubleCache, "Our Matmul has no enableDoubleCache" ASC_REAL_HEADERS);
    static_assert(c.scheduleType == ScheduleType::INNER_PRODUCT,
                  "Our Matmul has ScheduleType::INNER_PRODUCT only" ASC_REAL_HEADERS);
    static_assert(c.bmmOutMode == BatchOutMode::SINGLE_BATCH,
                  "Our Matmul has BatchOutMode::SINGLE_BATCH only" ASC_REAL_HEADERS);
    static_assert(!c.isPerTensor && !c.hasAntiQuantOffset,
                  "Our Matmul does not dequantise B" ASC_REAL_HEADERS);
    static constexpr bool kept = true;
};

}  // namespace AscendC
