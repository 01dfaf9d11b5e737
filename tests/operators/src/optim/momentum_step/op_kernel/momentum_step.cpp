// A step of gradient descent with momentum.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class MomentumStep {
public:
    __aicore__ inline void Init(GM_ADDR weight, GM_ADDR velocity, GM_ADDR gradient, GM_ADDR newWeight, GM_ADDR newVelocity, const MomentumStepTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->momentum = tiling->momentum;
        this->rate = tiling->rate;
        weightGm.SetGlobalBuffer((__gm__ float*)weight + first, this->count);
        velocityGm.SetGlobalBuffer((__gm__ float*)velocity + first, this->count);
        gradientGm.SetGlobalBuffer((__gm__ float*)gradient + first, this->count);
        newWeightGm.SetGlobalBuffer((__gm__ float*)newWeight + first, this->count);
        newVelocityGm.SetGlobalBuffer((__gm__ float*)newVelocity + first, this->count);
        pipe.InitBuffer(weightQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(velocityQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(gradientQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(newWeightQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(newVelocityQueue, BUFFER_NUM, TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t done = 0; done < this->count; done += TILE) {
            uint32_t length = this->count - done < TILE ? this->count - done : TILE;
            CopyIn(done, length);
            Compute(length);
            CopyOut(done, length);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t done, uint32_t length)
    {
        LocalTensor<float> weightLocal = weightQueue.AllocTensor<float>();
        DataCopy(weightLocal, weightGm[done], length);
        weightQueue.EnQue(weightLocal);
        LocalTensor<float> velocityLocal = velocityQueue.AllocTensor<float>();
        DataCopy(velocityLocal, velocityGm[done], length);
        velocityQueue.EnQue(velocityLocal);
        LocalTensor<float> gradientLocal = gradientQueue.AllocTensor<float>();
        DataCopy(gradientLocal, gradientGm[done], length);
        gradientQueue.EnQue(gradientLocal);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<float> weightLocal = weightQueue.DeQue<float>();
        LocalTensor<float> velocityLocal = velocityQueue.DeQue<float>();
        LocalTensor<float> gradientLocal = gradientQueue.DeQue<float>();
        LocalTensor<float> newWeightLocal = newWeightQueue.AllocTensor<float>();
        LocalTensor<float> newVelocityLocal = newVelocityQueue.AllocTensor<float>();
        Muls(newVelocityLocal, velocityLocal, this->momentum, length);
        Add(newVelocityLocal, newVelocityLocal, gradientLocal, length);
        Muls(newWeightLocal, newVelocityLocal, this->rate, length);
        Sub(newWeightLocal, weightLocal, newWeightLocal, length);
        newWeightQueue.EnQue(newWeightLocal);
        newVelocityQueue.EnQue(newVelocityLocal);
        weightQueue.FreeTensor(weightLocal);
        velocityQueue.FreeTensor(velocityLocal);
        gradientQueue.FreeTensor(gradientLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<float> newWeightLocal = newWeightQueue.DeQue<float>();
        DataCopy(newWeightGm[done], newWeightLocal, length);
        newWeightQueue.FreeTensor(newWeightLocal);
        LocalTensor<float> newVelocityLocal = newVelocityQueue.DeQue<float>();
        DataCopy(newVelocityGm[done], newVelocityLocal, length);
        newVelocityQueue.FreeTensor(newVelocityLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> weightQueue, velocityQueue, gradientQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> newWeightQueue, newVelocityQueue;
    GlobalTensor<float> weightGm;
    GlobalTensor<float> velocityGm;
    GlobalTensor<float> gradientGm;
    GlobalTensor<float> newWeightGm;
    GlobalTensor<float> newVelocityGm;
    float momentum, rate;
    uint32_t count;
};

extern "C" __global__ __aicore__ void momentum_step(GM_ADDR weight, GM_ADDR velocity, GM_ADDR gradient, GM_ADDR newWeight, GM_ADDR newVelocity, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    MomentumStep op;
    op.Init(weight, velocity, gradient, newWeight, newVelocity, &tilingData);
    op.Process();
}
