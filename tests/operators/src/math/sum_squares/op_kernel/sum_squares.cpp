// y = sum(x * x) over the whole tensor: partial sums by core, then core 0 adds them up.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t FLOATS_PER_BLOCK = 8;

template <typename T>
class SumSquaresKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                const SumSquaresTilingData& data)
    {
        tile = data.tile;
        usedCores = data.usedCores;
        uint64_t first = data.lengthPerCore * GetBlockIdx();
        length = data.length - first;
        if (length > data.lengthPerCore) {
            length = data.lengthPerCore;
        }
        xGm.SetGlobalBuffer((__gm__ T*)x + first, length);
        yGm.SetGlobalBuffer((__gm__ float*)y, 1);
        partialGm.SetGlobalBuffer((__gm__ float*)workspace, usedCores * FLOATS_PER_BLOCK);

        pipe.InitBuffer(xQue, 2, tile * sizeof(T));
        pipe.InitBuffer(outQue, 1, FLOATS_PER_BLOCK * sizeof(float));
        pipe.InitBuffer(partialQue, 1, usedCores * FLOATS_PER_BLOCK * sizeof(float));
        pipe.InitBuffer(squareBuf, tile * sizeof(float));
        pipe.InitBuffer(workBuf, tile / 8 * sizeof(float));
        pipe.InitBuffer(tileSumBuf, 32);
        pipe.InitBuffer(sumBuf, 32);
    }

    __aicore__ inline void Process()
    {
        LocalTensor<float> sum = sumBuf.Get<float>();
        Duplicate(sum, 0.0f, FLOATS_PER_BLOCK);
        for (uint64_t offset = 0; offset < length; offset += tile) {
            uint32_t count = length - offset < tile ? length - offset : tile;
            CopyIn(offset, count);
            Accumulate(sum, count);
        }
        WritePartial(sum);
        SyncAll();
        if (GetBlockIdx() == 0) {
            AddPartials();
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> x = xQue.AllocTensor<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(x, xGm[offset], params, pad);
        xQue.EnQue(x);
    }

    __aicore__ inline void Accumulate(const LocalTensor<float>& sum, uint32_t count)
    {
        LocalTensor<T> x = xQue.DeQue<T>();
        LocalTensor<float> square = squareBuf.Get<float>();
        LocalTensor<float> tileSum = tileSumBuf.Get<float>();
        if constexpr (IsSameType<T, float>::value) {
            Mul(square, x, x, count);
        } else {
            Cast(square, x, RoundMode::CAST_NONE, count);
            Mul(square, square, square, count);
        }
        xQue.FreeTensor(x);
        ReduceSum(tileSum, square, workBuf.Get<float>(), count);
        Add(sum, sum, tileSum, 1);
    }

    __aicore__ inline void WritePartial(const LocalTensor<float>& sum)
    {
        LocalTensor<float> out = outQue.AllocTensor<float>();
        Adds(out, sum, 0.0f, FLOATS_PER_BLOCK);
        outQue.EnQue(out);
        out = outQue.DeQue<float>();
        DataCopy(partialGm[GetBlockIdx() * FLOATS_PER_BLOCK], out, FLOATS_PER_BLOCK);
        outQue.FreeTensor(out);
    }

    __aicore__ inline void AddPartials()
    {
        LocalTensor<float> partial = partialQue.AllocTensor<float>();
        DataCopy(partial, partialGm, usedCores * FLOATS_PER_BLOCK);
        partialQue.EnQue(partial);
        partial = partialQue.DeQue<float>();
        // the seven elements beside each partial sum are zero
        LocalTensor<float> out = outQue.AllocTensor<float>();
        ReduceSum(out, partial, workBuf.Get<float>(), usedCores * FLOATS_PER_BLOCK);
        outQue.EnQue(out);
        partialQue.FreeTensor(partial);
        out = outQue.DeQue<float>();
        DataCopyExtParams params{1, sizeof(float), 0, 0, 0};
        DataCopyPad(yGm, out, params);
        outQue.FreeTensor(out);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQue;
    TQue<QuePosition::VECIN, 1> partialQue;
    TQue<QuePosition::VECOUT, 1> outQue;
    TBuf<QuePosition::VECCALC> squareBuf;
    TBuf<QuePosition::VECCALC> workBuf;
    TBuf<QuePosition::VECCALC> tileSumBuf;
    TBuf<QuePosition::VECCALC> sumBuf;
    GlobalTensor<T> xGm;
    GlobalTensor<float> yGm;
    GlobalTensor<float> partialGm;
    uint64_t length = 0;
    uint32_t tile = 0;
    uint32_t usedCores = 0;
};

extern "C" __global__ __aicore__ void sum_squares(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                  GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    GM_ADDR userWorkspace = GetUserWorkspace(workspace);
    if (TILING_KEY_IS(1)) {
        SumSquaresKernel<DTYPE_X> op;
        op.Init(x, y, userWorkspace, tilingData);
        op.Process();
    }
}
