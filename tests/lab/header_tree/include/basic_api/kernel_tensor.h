#pragma once

#include <cstdint>

using GM_ADDR = __gm__ uint8_t*;

#if defined(__DAV_VEC__)
#define ASCEND_IS_AIC constexpr(false)
#else
#define ASCEND_IS_AIC constexpr(true)
#endif

namespace AscendC {

enum class TPosition : uint8_t { GM, VECIN, VECOUT, VECCALC };
enum class HardEvent : uint8_t { MTE2_V, V_MTE3, MTE3_MTE2, V_S, S_V };

template <typename T>
class LocalTensor {
public:
    using PrimType = T;
    __aicore__ inline LocalTensor(uint64_t address = 0, uint32_t size = 0)
        : address_(address), size_(size)
    {}
    __aicore__ inline uint64_t GetPhyAddr(const uint32_t offset = 0) const
    {
        return address_ + offset * sizeof(T);
    }
    __aicore__ inline T GetValue(const uint32_t index) const;
    template <typename U>
    __aicore__ inline void SetValue(const uint32_t index, const U value) const;
    __aicore__ inline __ubuf__ T& operator()(const uint32_t index) const;
    __aicore__ inline LocalTensor operator[](uint32_t offset) const
    {
        return LocalTensor(GetPhyAddr(offset), size_ - offset);
    }

private:
    uint64_t address_;
    uint32_t size_;
};

template <typename T>
__aicore__ inline T LocalTensor<T>::GetValue(const uint32_t index) const
{
    return *reinterpret_cast<__ubuf__ T*>(GetPhyAddr(index));
}

template <typename T>
template <typename U>
__aicore__ inline void LocalTensor<T>::SetValue(const uint32_t index, const U value) const
{
    *reinterpret_cast<__ubuf__ T*>(GetPhyAddr(index)) = static_cast<T>(value);
}

template <typename T>
__aicore__ inline __ubuf__ T& LocalTensor<T>::operator()(const uint32_t index) const
{
    return *reinterpret_cast<__ubuf__ T*>(GetPhyAddr(index));
}

template <typename T>
class GlobalTensor {
public:
    __aicore__ inline void SetGlobalBuffer(__gm__ T* address, uint64_t = 0) { address_ = address; }
    __aicore__ inline __gm__ T* GetPhyAddr() const { return address_; }
    __aicore__ inline GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor part;
        part.address_ = address_ + offset;
        return part;
    }

private:
    __gm__ T* address_ = nullptr;
};

}  // namespace AscendC
