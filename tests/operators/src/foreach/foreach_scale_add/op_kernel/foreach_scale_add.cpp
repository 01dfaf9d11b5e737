// y[k] = alpha * x[k] + z[k] for every tensor k of the lists. Each tensor is split over the cores.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

template <typename T>
class ForeachScaleAddKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR y,
                                const ForeachScaleAddTilingData* tiling, TPipe* pipe)
    {
        data = tiling;
        xList.Init((__gm__ void*)x);
        zList.Init((__gm__ void*)z);
        yList.Init((__gm__ void*)y);
        pipe->InitBuffer(xQueue, 1, tiling->tileLength * sizeof(T));
        pipe->InitBuffer(zQueue, 1, tiling->tileLength * sizeof(T));
        pipe->InitBuffer(yQueue, 1, tiling->tileLength * sizeof(T));
        alpha = static_cast<T>(tiling->alpha);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t k = 0; k < data->tensorNum; k++) {
            ProcessTensor(k, data->lengths[k]);
        }
    }

private:
    __aicore__ inline void ProcessTensor(uint32_t k, uint64_t length)
    {
        constexpr uint64_t unit = 32 / sizeof(T);
        uint64_t blocks = (length + unit - 1) / unit;
        uint64_t share = (blocks + GetBlockNum() - 1) / GetBlockNum() * unit;
        uint64_t first = share * GetBlockIdx();
        if (first >= length) {
            return;
        }
        uint64_t last = first + share < length ? first + share : length;
        xGm.SetGlobalBuffer(xList.GetDataPtr<__gm__ T>(k), length);
        zGm.SetGlobalBuffer(zList.GetDataPtr<__gm__ T>(k), length);
        yGm.SetGlobalBuffer(yList.GetDataPtr<__gm__ T>(k), length);
        for (uint64_t offset = first; offset < last; offset += data->tileLength) {
            uint32_t count = last - offset < data->tileLength ? last - offset : data->tileLength;
            ProcessTile(offset, count);
        }
    }

    __aicore__ inline void ProcessTile(uint64_t offset, uint32_t count)
    {
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{false, 0, 0, 0};
        LocalTensor<T> x = xQueue.template AllocTensor<T>();
        DataCopyPad(x, xGm[offset], params, pad);
        xQueue.EnQue(x);
        LocalTensor<T> z = zQueue.template AllocTensor<T>();
        DataCopyPad(z, zGm[offset], params, pad);
        zQueue.EnQue(z);

        x = xQueue.template DeQue<T>();
        z = zQueue.template DeQue<T>();
        LocalTensor<T> y = yQueue.template AllocTensor<T>();
        Muls(y, x, alpha, count);
        Add(y, y, z, count);
        xQueue.FreeTensor(x);
        zQueue.FreeTensor(z);
        yQueue.EnQue(y);

        y = yQueue.template DeQue<T>();
        DataCopyPad(yGm[offset], y, params);
        yQueue.FreeTensor(y);
    }

    const ForeachScaleAddTilingData* data = nullptr;
    ListTensorDesc xList;
    ListTensorDesc zList;
    ListTensorDesc yList;
    TQue<QuePosition::VECIN, 1> xQueue;
    TQue<QuePosition::VECIN, 1> zQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> zGm;
    GlobalTensor<T> yGm;
    T alpha;
};

extern "C" __global__ __aicore__ void foreach_scale_add(GM_ADDR x, GM_ADDR z, GM_ADDR y,
                                                        GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        ForeachScaleAddKernel<DTYPE_X> op;
        op.Init(x, z, y, &tilingData, &pipe);
        op.Process();
    }
}
