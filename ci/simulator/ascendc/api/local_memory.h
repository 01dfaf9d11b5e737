// LocalMemAllocator: tensors one behind the other in a memory of the core, without TPipe and
// queues.
#pragma once

#include "tensor.h"

namespace AscendC {

template <Hardware hard = Hardware::UB> class LocalMemAllocator {
    static_assert(hard != Hardware::GM && hard != Hardware::MAX, "no memory of the core");

public:
    __aicore__ LocalMemAllocator() {}
    // The byte behind the last tensor, from the start of the memory.
    __aicore__ uint32_t GetCurAddr() const { return head_; }

    template <TPosition pos, typename T> __aicore__ LocalTensor<T> Alloc(uint32_t elements) {
        static_assert(GetPhyType(pos) == hard, "the position lies in another memory");
        const LocalTensor<T> tensor(pos, head_, elements);
        head_ += elements * sizeof(T);
        return tensor;
    }
    template <TPosition pos, typename T, uint32_t elements> __aicore__ LocalTensor<T> Alloc() {
        return Alloc<pos, T>(elements);
    }
    template <typename T> __aicore__ LocalTensor<T> Alloc(uint32_t elements) {
        return Alloc<usual(), T>(elements);
    }
    template <typename T, uint32_t elements> __aicore__ LocalTensor<T> Alloc() {
        return Alloc<usual(), T>(elements);
    }

private:
    // The position that a tensor has where the kernel names none.
    static constexpr TPosition usual() {
        switch (hard) {
            case Hardware::L1: return TPosition::A1;
            case Hardware::L0A: return TPosition::A2;
            case Hardware::L0B: return TPosition::B2;
            case Hardware::L0C: return TPosition::CO1;
            case Hardware::BIAS: return TPosition::C2;
            case Hardware::FIXBUF: return TPosition::C2PIPE2GM;
            default: return TPosition::VECCALC;
        }
    }

    uint32_t head_ = 0;
};

}  // namespace AscendC
