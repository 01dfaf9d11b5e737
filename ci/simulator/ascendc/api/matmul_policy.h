// Policies of the Matmul API: from which modules a product is put together. Those that change where
// tiles wait and not what is computed are taken as the default one, and so are policies that derive
// from these and replace nothing. A module of the kernel's own is refused with a sentence.
#pragma once

#include "matmul_limits.h"

namespace AscendC {
namespace Impl {
namespace Detail {

struct OwnModule {};
// clang-format off
#define ASC_MATMUL_MODULES(x)                                                                    \
    x(BatchScheduler) x(BiasScheduler) x(Context) x(CopyCubeInA) x(CopyCubeInB) x(CopyCubeOut)   \
    x(CubeInBufferA) x(CubeInBufferB) x(CubeOutBuffer) x(L0cT) x(MmadCompute) x(Scheduler)       \
    x(UserDefDataType)
// clang-format on
#define ASC_MODULE(Name) using Name = OwnModule;
template <const auto& CONFIG, typename IMPL, typename A, typename B, typename C, typename BIAS>
struct MatmulPolicy {
    ASC_MATMUL_MODULES(ASC_MODULE)
};
#undef ASC_MODULE
template <const auto& CONFIG, typename IMPL, typename A, typename B, typename C, typename BIAS>
struct NBuffer33MatmulPolicy : MatmulPolicy<CONFIG, IMPL, A, B, C, BIAS> {};

template <class POLICY> __aicore__ constexpr bool replaces_nothing() {
#define ASC_REPLACED(Name)                                             \
    static_assert(IsSameType<typename POLICY::Name, OwnModule>::value, \
                  "Our Matmul takes no " #Name " of the kernel's own" ASC_REAL_HEADERS);
    ASC_MATMUL_MODULES(ASC_REPLACED)
#undef ASC_REPLACED
    return true;
}
#undef ASC_MATMUL_MODULES

}  // namespace Detail
}  // namespace Impl
}  // namespace AscendC
