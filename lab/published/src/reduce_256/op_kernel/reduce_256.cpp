// The sum of 256 floats in the unified buffer, many times over:
//   1  two reductions of whole repeats    2  three of blocks of 32 bytes    3  one of each
#include "kernel_operator.h"

using AscendC::HardEvent;
using AscendC::LocalTensor;

constexpr uint32_t ELEMENTS = 256;
constexpr uint32_t REPEAT = 64;  // floats in 256 bytes
constexpr uint32_t BLOCK = 8;    // floats in 32 bytes
constexpr AscendC::ReduceType SUM = AscendC::ReduceType::SUM;

namespace {

// Each reduction takes its count from a mask, and waits for the one before.
__aicore__ inline void ByRepeat(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                uint32_t count)
{
    AscendC::SetVectorMask<float>(0, count);
    AscendC::ReduceRepeat<SUM, float, float, false>(to, from, AscendC::MASK_PLACEHOLDER, 1, 1, 1,
                                                    8);
    AscendC::PipeBarrier<PIPE_V>();
}

__aicore__ inline void ByBlock(const LocalTensor<float>& to, const LocalTensor<float>& from,
                               uint32_t count)
{
    AscendC::SetVectorMask<float>(0, count);
    AscendC::ReduceDataBlock<SUM, float, float, false>(to, from, AscendC::MASK_PLACEHOLDER, 1, 1, 1,
                                                       8);
    AscendC::PipeBarrier<PIPE_V>();
}

}  // namespace

extern "C" __global__ __aicore__ void reduce_256(GM_ADDR x, GM_ADDR z, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    AscendC::GlobalTensor<float> xGlobal;
    AscendC::GlobalTensor<float> zGlobal;
    xGlobal.SetGlobalBuffer((__gm__ float*)x, ELEMENTS);
    zGlobal.SetGlobalBuffer((__gm__ float*)z, 1);
    LocalTensor<float> all(AscendC::TPosition::VECCALC, 0, ELEMENTS);
    LocalTensor<float> part(AscendC::TPosition::VECCALC, 4096, ELEMENTS);
    LocalTensor<float> sum(AscendC::TPosition::VECCALC, 8192, REPEAT);
    AscendC::DataCopy(all, xGlobal, ELEMENTS);
    AscendC::SetFlag<HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<HardEvent::MTE2_V>(0);
    for (uint32_t i = 0; i < data.times; i++) {
        AscendC::SetMaskCount();
        if (data.kind == 1) {
            ByRepeat(part, all, ELEMENTS);
            ByRepeat(sum, part, ELEMENTS / REPEAT);
        } else {
            ByBlock(part, all, ELEMENTS);
            if (data.kind == 2) {
                ByBlock(part, part, ELEMENTS / BLOCK);
                ByBlock(sum, part, ELEMENTS / BLOCK / BLOCK);
            } else {
                ByRepeat(sum, part, ELEMENTS / BLOCK);
            }
        }
        AscendC::SetMaskNorm();
    }
    AscendC::SetFlag<HardEvent::V_MTE3>(0);
    AscendC::WaitFlag<HardEvent::V_MTE3>(0);
    AscendC::DataCopyPad(zGlobal, sum, {1, sizeof(float), 0, 0, 0});
}
