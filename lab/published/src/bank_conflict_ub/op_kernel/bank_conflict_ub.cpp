// z = x + y, a thousand times over in UB: what counts is where x, y and z lie.
#include "kernel_operator.h"

using AscendC::HardEvent;
using AscendC::LocalTensor;

constexpr int32_t TIMES = 1000;
constexpr uint32_t ELEMENTS = 4096;
constexpr uint64_t LANES = 64;  // floats in 256 bytes

extern "C" __global__ __aicore__ void bank_conflict_ub(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                       GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    AscendC::GlobalTensor<float> xGlobal;
    AscendC::GlobalTensor<float> yGlobal;
    AscendC::GlobalTensor<float> zGlobal;
    xGlobal.SetGlobalBuffer((__gm__ float*)x, ELEMENTS);
    yGlobal.SetGlobalBuffer((__gm__ float*)y, ELEMENTS);
    zGlobal.SetGlobalBuffer((__gm__ float*)z, ELEMENTS);
    LocalTensor<float> xLocal(AscendC::TPosition::VECCALC, data.first, ELEMENTS);
    LocalTensor<float> yLocal(AscendC::TPosition::VECCALC, data.second, ELEMENTS);
    LocalTensor<float> zLocal(AscendC::TPosition::VECCALC, data.result, ELEMENTS);
    AscendC::DataCopy(xLocal, xGlobal, ELEMENTS);
    AscendC::DataCopy(yLocal, yGlobal, ELEMENTS);
    AscendC::SetFlag<HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<HardEvent::MTE2_V>(0);
    const AscendC::BinaryRepeatParams strides(1, static_cast<uint8_t>(data.blockStride), 1, 8,
                                              static_cast<uint8_t>(data.repeatStride), 8);
    for (int32_t i = 0; i < TIMES; i++) {
        AscendC::Add(zLocal, xLocal, yLocal, LANES, ELEMENTS / LANES, strides);
    }
    AscendC::SetFlag<HardEvent::V_MTE3>(0);
    AscendC::WaitFlag<HardEvent::V_MTE3>(0);
    AscendC::DataCopy(zGlobal, zLocal, ELEMENTS);
}
