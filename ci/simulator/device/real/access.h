// Single elements of a LocalTensor, for the element types that kernels use. The headers read them
// through a plain pointer; here the scalar unit's hook is told and the element is found where the
// unified buffer really lies, which is a thousand times faster than answering a fault.
#pragma once

#include <kernel_tensor.h>

namespace AscendC {

template <typename T> inline T* AscendOptElement(uint64_t offset) {
    return reinterpret_cast<T*>(dav_ub_base() + offset);
}

#define ASCENDOPT_ELEMENT(T)                                                                     \
    template <> __aicore__ inline T LocalTensor<T>::GetValue(const uint32_t index) const {       \
        if ASCEND_IS_AIC                                                                         \
            return T(0);                                                                         \
        T* const element = AscendOptElement<T>(GetPhyAddr(index));                               \
        dav_scalar_load(element, sizeof(T));                                                     \
        return *element;                                                                         \
    }                                                                                            \
    template <> __aicore__ inline T& LocalTensor<T>::operator()(const uint32_t index) const {    \
        return *AscendOptElement<T>(GetPhyAddr(index));                                          \
    }                                                                                            \
    template <>                                                                                  \
    template <typename U>                                                                        \
    __aicore__ inline void LocalTensor<T>::SetValue(const uint32_t index, const U value) const { \
        if ASCEND_IS_AIC                                                                         \
            return;                                                                              \
        T* const element = AscendOptElement<T>(GetPhyAddr(index));                               \
        dav_scalar_store(element, sizeof(T));                                                    \
        *element = static_cast<T>(value);                                                        \
    }
ASCENDOPT_ELEMENT(half)
ASCENDOPT_ELEMENT(bfloat16_t)
ASCENDOPT_ELEMENT(float)
ASCENDOPT_ELEMENT(bool)
ASCENDOPT_ELEMENT(int8_t)
ASCENDOPT_ELEMENT(uint8_t)
ASCENDOPT_ELEMENT(int16_t)
ASCENDOPT_ELEMENT(uint16_t)
ASCENDOPT_ELEMENT(int32_t)
ASCENDOPT_ELEMENT(uint32_t)
ASCENDOPT_ELEMENT(int64_t)
ASCENDOPT_ELEMENT(uint64_t)
#undef ASCENDOPT_ELEMENT

}  // namespace AscendC
