// Functions of the C library that kernels call on the scalar unit. A kernel is linked with --wrap
// for each of them (rules/guards/symbols.yml, `priced`), so that they cost time here as they would
// there. memcmp, which reads memory, stands beside memcpy in scalar_access.cpp.
#include <cmath>

#include "core.h"

namespace {

// The scalar unit has no instruction for these: a routine of some dozens of instructions runs.
void charge_call() { dav::count_scalar(dav::LIBRARY_CALLS); }

}  // namespace

#define DAV_PRICED_ONE(name)                     \
    extern "C" double __wrap_##name(double x) {  \
        charge_call();                           \
        return std::name(x);                     \
    }                                            \
    extern "C" float __wrap_##name##f(float x) { \
        charge_call();                           \
        return std::name(x);                     \
    }
#define DAV_PRICED_TWO(name)                              \
    extern "C" double __wrap_##name(double x, double y) { \
        charge_call();                                    \
        return std::name(x, y);                           \
    }                                                     \
    extern "C" float __wrap_##name##f(float x, float y) { \
        charge_call();                                    \
        return std::name(x, y);                           \
    }
DAV_PRICED_ONE(exp)
DAV_PRICED_ONE(exp2)
DAV_PRICED_ONE(expm1)
DAV_PRICED_ONE(log)
DAV_PRICED_ONE(log2)
DAV_PRICED_ONE(log10)
DAV_PRICED_ONE(log1p)
DAV_PRICED_ONE(sin)
DAV_PRICED_ONE(cos)
DAV_PRICED_ONE(tan)
DAV_PRICED_ONE(asin)
DAV_PRICED_ONE(acos)
DAV_PRICED_ONE(atan)
DAV_PRICED_ONE(sinh)
DAV_PRICED_ONE(cosh)
DAV_PRICED_ONE(tanh)
DAV_PRICED_ONE(erf)
DAV_PRICED_ONE(cbrt)
DAV_PRICED_TWO(pow)
DAV_PRICED_TWO(fmod)
DAV_PRICED_TWO(atan2)
DAV_PRICED_TWO(hypot)
#undef DAV_PRICED_ONE
#undef DAV_PRICED_TWO
