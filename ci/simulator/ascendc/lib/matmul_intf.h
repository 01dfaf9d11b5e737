// The Matmul API. A kernel that defines ASCENDC_CUBE_ONLY before it multiplies on the cube core's
// own account: the vector cores of its blocks, where it has some, ask for nothing.
#pragma once

#include "../api/matmul.h"
#include "../kernel_operator.h"

#ifdef ASCENDC_CUBE_ONLY
#define ASC_MATMUL_POSTS false
#define ASC_MATMUL_START ASC_MARK(cube_only)
#else
// On the cube core of a block with vector cores the kernel ends here: it serves them.
#define ASC_MATMUL_POSTS true
#define ASC_MATMUL_START                           \
    ASC_MARK(matmul);                              \
    AscendC::MatmulClient ascendopt_matmul_client; \
    if (AscendC::serve_matmul()) return
#endif

namespace AscendC {
using ::MatmulCallBackFunc;

template <class A, class B, class C, class BIAS = C, const auto& CONFIG = CFG_NORM,
          class CALLBACK = void,
          template <const auto&, typename, typename, typename, typename, typename> class POLICY =
              Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A, B, C, BIAS, CONFIG, CALLBACK, POLICY, ASC_MATMUL_POSTS>;

// What comes along with the API's own headers, and kernels use.
template <typename T> __aicore__ inline T CeilAlign(T value, T to) {
    return (value + to - 1) / to * to;
}
template <typename T> __aicore__ inline T Align(T value, T to) { return CeilAlign(value, to); }
// Arguments of two types take these, and their sixteen bits.
__aicore__ inline uint16_t CeilDiv(uint16_t value, uint16_t by) { return (value + by - 1) / by; }
__aicore__ inline uint16_t CeilAlign(uint16_t value, uint16_t to) {
    return CeilDiv(value, to) * to;
}
}  // namespace AscendC

namespace matmul {
using namespace AscendC;
using ::MatmulCallBackFunc;
}  // namespace matmul

#define REGIST_MATMUL_OBJ(pipe, workspace, ...) \
    ASC_MATMUL_START;                           \
    AscendC::start_matmul(pipe, __VA_ARGS__)
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

// Some kernels name these without their namespace.
using AscendC::GetMDLConfig;
using AscendC::GetNormalConfig;
