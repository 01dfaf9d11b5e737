// A step of Adagrad.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 512;   // elements

class AdagradStep {
public:
    __aicore__ inline void Init(GM_ADDR weight, GM_ADDR state, GM_ADDR gradient, GM_ADDR newWeight, GM_ADDR newState, const AdagradStepTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->rate = tiling->rate;
        weightGm.SetGlobalBuffer((__gm__ float*)weight + first, this->count);
        stateGm.SetGlobalBuffer((__gm__ float*)state + first, this->count);
        gradientGm.SetGlobalBuffer((__gm__ float*)gradient + first, this->count);
        newWeightGm.SetGlobalBuffer((__gm__ float*)newWeight + first, this->count);
        newStateGm.SetGlobalBuffer((__gm__ float*)newState + first, this->count);
        pipe.InitBuffer(weightQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(stateQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(gradientQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(newWeightQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(newStateQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(rootBuf, TILE * sizeof(float));
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
        LocalTensor<float> stateLocal = stateQueue.AllocTensor<float>();
        DataCopy(stateLocal, stateGm[done], length);
        stateQueue.EnQue(stateLocal);
        LocalTensor<float> gradientLocal = gradientQueue.AllocTensor<float>();
        DataCopy(gradientLocal, gradientGm[done], length);
        gradientQueue.EnQue(gradientLocal);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<float> weightLocal = weightQueue.DeQue<float>();
        LocalTensor<float> stateLocal = stateQueue.DeQue<float>();
        LocalTensor<float> gradientLocal = gradientQueue.DeQue<float>();
        LocalTensor<float> newWeightLocal = newWeightQueue.AllocTensor<float>();
        LocalTensor<float> newStateLocal = newStateQueue.AllocTensor<float>();
        LocalTensor<float> root = rootBuf.Get<float>();
        Mul(newStateLocal, gradientLocal, gradientLocal, length);
        Add(newStateLocal, newStateLocal, stateLocal, length);
        Sqrt(root, newStateLocal, length);
        Adds(root, root, 1e-6f, length);
        Div(newWeightLocal, gradientLocal, root, length);
        Muls(newWeightLocal, newWeightLocal, -this->rate, length);
        Add(newWeightLocal, newWeightLocal, weightLocal, length);
        newWeightQueue.EnQue(newWeightLocal);
        newStateQueue.EnQue(newStateLocal);
        weightQueue.FreeTensor(weightLocal);
        stateQueue.FreeTensor(stateLocal);
        gradientQueue.FreeTensor(gradientLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<float> newWeightLocal = newWeightQueue.DeQue<float>();
        DataCopy(newWeightGm[done], newWeightLocal, length);
        newWeightQueue.FreeTensor(newWeightLocal);
        LocalTensor<float> newStateLocal = newStateQueue.DeQue<float>();
        DataCopy(newStateGm[done], newStateLocal, length);
        newStateQueue.FreeTensor(newStateLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> weightQueue, stateQueue, gradientQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> newWeightQueue, newStateQueue;
    TBuf<QuePosition::VECCALC> rootBuf;
    GlobalTensor<float> weightGm;
    GlobalTensor<float> stateGm;
    GlobalTensor<float> gradientGm;
    GlobalTensor<float> newWeightGm;
    GlobalTensor<float> newStateGm;
    float rate;
    uint32_t count;
};

extern "C" __global__ __aicore__ void adagrad_step(GM_ADDR weight, GM_ADDR state, GM_ADDR gradient, GM_ADDR newWeight, GM_ADDR newState, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AdagradStep op;
    op.Init(weight, state, gradient, newWeight, newState, &tilingData);
    op.Process();
}
