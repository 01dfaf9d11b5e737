// Tensor lists (dynamic inputs and outputs): ListTensorDesc reads the descriptor in GM that stands
// for a list. 64-bit words: the byte offset of the pointers, then for each tensor
// index << 32 | rank and its extents, then the pointers.
#pragma once

#include "tensor.h"

namespace AscendC {

template <typename T> class TensorDesc {
public:
    __aicore__ void SetShapeAddr(uint64_t* shape) { shape_ = shape; }
    __aicore__ uint64_t GetDim() const { return rank_; }
    __aicore__ uint64_t GetIndex() const { return index_; }
    __aicore__ uint64_t GetShape(uint32_t axis) const { return shape_[axis]; }
    __aicore__ T* GetDataPtr() const { return data_; }
    __aicore__ GlobalTensor<T> GetDataObj() const {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

private:
    friend class ListTensorDesc;
    uint64_t* shape_ = nullptr;
    uint64_t rank_ = 0;
    uint64_t index_ = 0;
    T* data_ = nullptr;
};

class ListTensorDesc {
public:
    __aicore__ ListTensorDesc() = default;
    __aicore__ ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff,
                              uint32_t shapeSize = 0xffffffff) {
        Init(data, length, shapeSize);
    }
    // `length` and `shapeSize` only serve checks of the caller's, of which there are none here.
    __aicore__ void Init(__gm__ void* data, uint32_t = 0xffffffff, uint32_t = 0xffffffff) {
        words_ = reinterpret_cast<__gm__ uint64_t*>(data);
        pointers_ = Word(0) / sizeof(uint64_t);
    }
    __aicore__ uint32_t GetSize() const {
        uint32_t size = 0;
        for (uint64_t at = 1; at < pointers_; at += 1 + Rank(at)) ++size;
        return size;
    }
    template <typename T> __aicore__ T* GetDataPtr(uint32_t index) const {
        return reinterpret_cast<T*>(Word(pointers_ + index));
    }
    template <typename T> __aicore__ void GetDesc(TensorDesc<T>& desc, uint32_t index) const {
        uint64_t at = 1;
        for (uint32_t i = 0; i < index; ++i) at += 1 + Rank(at);
        desc.rank_ = Rank(at);
        desc.index_ = Word(at) >> 32;
        for (uint64_t axis = 0; axis < desc.rank_; ++axis) desc.shape_[axis] = Word(at + 1 + axis);
        desc.data_ = GetDataPtr<T>(index);
    }

private:
    __aicore__ uint64_t Rank(uint64_t at) const { return Word(at) & 0xffffffff; }
    __aicore__ uint64_t Word(uint64_t at) const {
        dav_scalar_load(words_ + at, sizeof(uint64_t));
        return words_[at];
    }

    __gm__ uint64_t* words_ = nullptr;
    uint64_t pointers_ = 0;
};

}  // namespace AscendC
