// Behind the AscendC headers: an operator that passes the address of Muls and its kin has the
// compiler choose between two templates of the same type. The device compiler takes the more
// special one, which this compiler holds to be ambiguous; a function that is no template settles it.
#pragma once

#ifdef ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H
namespace AscendC {

#define ASCENDOPT_PLAIN(name, T)                                                      \
    __aicore__ inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const T& scalar, const int32_t& count) {              \
        name<T, true>(dst, src, scalar, count);                                       \
    }
#define ASCENDOPT_PLAIN_TYPES(name) \
    ASCENDOPT_PLAIN(name, half)     \
    ASCENDOPT_PLAIN(name, float)    \
    ASCENDOPT_PLAIN(name, int16_t)  \
    ASCENDOPT_PLAIN(name, int32_t)
ASCENDOPT_PLAIN_TYPES(Adds)
ASCENDOPT_PLAIN_TYPES(Muls)
ASCENDOPT_PLAIN_TYPES(Maxs)
ASCENDOPT_PLAIN_TYPES(Mins)
#undef ASCENDOPT_PLAIN_TYPES
#undef ASCENDOPT_PLAIN

}  // namespace AscendC
#endif
