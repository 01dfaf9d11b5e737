// The positive elements of a tensor, in order, and how many there are.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 1024;   // elements

class TakePositive {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR shapes, uint32_t total)
    {
        this->total = total;
        xGm.SetGlobalBuffer((__gm__ float*)x, total);
        yGm.SetGlobalBuffer((__gm__ float*)y, total);
        shapesGm.SetGlobalBuffer((__gm__ uint64_t*)shapes, 9);
        pipe.InitBuffer(xQueue, 1, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, 1, TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        uint32_t found = 0;
        for (uint32_t done = 0; done < this->total; done += TILE) {
            uint32_t length = this->total - done < TILE ? this->total - done : TILE;
            CopyIn(done, length);
            found += Take(found, length);
        }
        shapesGm.SetValue(0, 1);
        shapesGm.SetValue(1, found);
        DataCacheCleanAndInvalid<uint64_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
            shapesGm);
    }

private:
    __aicore__ inline void CopyIn(uint32_t done, uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.AllocTensor<float>();
        DataCopyExtParams params{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
        DataCopyPad(xLocal, xGm[done], params, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
        xQueue.EnQue(xLocal);
    }

    __aicore__ inline uint32_t Take(uint32_t first, uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        uint32_t taken = 0;
        for (uint32_t i = 0; i < length; i++) {
            float value = xLocal.GetValue(i);
            if (value > 0.0f) {
                yLocal.SetValue(taken++, value);
            }
        }
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
        LocalTensor<float> result = yQueue.DeQue<float>();
        if (taken > 0) {
            DataCopyExtParams params{1, static_cast<uint32_t>(taken * sizeof(float)), 0, 0, 0};
            DataCopyPad(yGm[first], result, params);
        }
        yQueue.FreeTensor(result);
        return taken;
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 1> xQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    GlobalTensor<float> xGm, yGm;
    GlobalTensor<uint64_t> shapesGm;
    uint32_t total;
};

extern "C" __global__ __aicore__ void take_positive(GM_ADDR x, GM_ADDR y, GM_ADDR shapes,
                                                    GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    TakePositive op;
    op.Init(x, y, shapes, data.total);
    op.Process();
}
