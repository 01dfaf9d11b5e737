// Ways to add two vectors of half through queues, a tile at a time:
//   0  one core, tiles of 2048 elements, one buffer a queue
//   1  the same on 8 cores
//   2  the same with tiles of 20480
//   3  as 2, and each tile is added eight times
//   4  as 3, with tiles of 10240 and two buffers
//   5  a short vector on one core in tiles of 512, the pipe a member of the kernel's class
//   6  the same, the pipe outside
#include "kernel_operator.h"

using AscendC::LocalTensor;
using AscendC::TPosition;

namespace {

template <uint32_t TILE, int32_t BUFFERS, uint32_t ADDS> class TiledAdder {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR bias, GM_ADDR z, uint32_t total,
                                AscendC::TPipe& pipe)
    {
        const uint32_t count = total / AscendC::GetBlockNum();
        const uint64_t first = static_cast<uint64_t>(AscendC::GetBlockIdx()) * count;
        xGlobal.SetGlobalBuffer((__gm__ half*)x + first, count);
        biasGlobal.SetGlobalBuffer((__gm__ half*)bias + first, count);
        zGlobal.SetGlobalBuffer((__gm__ half*)z + first, count);
        pipe.InitBuffer(xQueue, BUFFERS, TILE * sizeof(half));
        pipe.InitBuffer(biasQueue, BUFFERS, TILE * sizeof(half));
        pipe.InitBuffer(zQueue, BUFFERS, TILE * sizeof(half));
        tiles = count / TILE;
    }

    __aicore__ inline void Process()
    {
        for (uint32_t tile = 0; tile < tiles; tile++) {
            Load(tile * TILE);
            Add();
            Store(tile * TILE);
        }
    }

private:
    __aicore__ inline void Load(uint32_t start)
    {
        LocalTensor<half> x = xQueue.template AllocTensor<half>();
        LocalTensor<half> bias = biasQueue.template AllocTensor<half>();
        AscendC::DataCopy(x, xGlobal[start], TILE);
        AscendC::DataCopy(bias, biasGlobal[start], TILE);
        xQueue.EnQue(x);
        biasQueue.EnQue(bias);
    }

    __aicore__ inline void Add()
    {
        LocalTensor<half> x = xQueue.template DeQue<half>();
        LocalTensor<half> bias = biasQueue.template DeQue<half>();
        LocalTensor<half> z = zQueue.template AllocTensor<half>();
        for (uint32_t i = 0; i < ADDS; i++) AscendC::Add(z, x, bias, TILE);
        zQueue.template EnQue<half>(z);
        xQueue.FreeTensor(x);
        biasQueue.FreeTensor(bias);
    }

    __aicore__ inline void Store(uint32_t start)
    {
        LocalTensor<half> z = zQueue.template DeQue<half>();
        AscendC::DataCopy(zGlobal[start], z, TILE);
        zQueue.FreeTensor(z);
    }

    AscendC::TQue<TPosition::VECIN, BUFFERS> xQueue;
    AscendC::TQue<TPosition::VECIN, BUFFERS> biasQueue;
    AscendC::TQue<TPosition::VECOUT, BUFFERS> zQueue;
    AscendC::GlobalTensor<half> xGlobal;
    AscendC::GlobalTensor<half> biasGlobal;
    AscendC::GlobalTensor<half> zGlobal;
    uint32_t tiles;
};

// The pipe in the object that the loop works on: the compiler cannot keep its fields in registers.
template <uint32_t TILE> struct WithPipe {
    AscendC::TPipe pipe;
    TiledAdder<TILE, 1, 1> adder;
};

template <uint32_t TILE, int32_t BUFFERS, uint32_t ADDS>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR bias, GM_ADDR z, uint32_t total)
{
    AscendC::TPipe pipe;
    TiledAdder<TILE, BUFFERS, ADDS> adder;
    adder.Init(x, bias, z, total, pipe);
    adder.Process();
}

}  // namespace

extern "C" __global__ __aicore__ void tiled_add(GM_ADDR x, GM_ADDR bias, GM_ADDR z,
                                                GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(0) || TILING_KEY_IS(1)) {
        Run<2048, 1, 1>(x, bias, z, data.total);
    } else if (TILING_KEY_IS(2)) {
        Run<20480, 1, 1>(x, bias, z, data.total);
    } else if (TILING_KEY_IS(3)) {
        Run<20480, 1, 8>(x, bias, z, data.total);
    } else if (TILING_KEY_IS(4)) {
        Run<10240, 2, 8>(x, bias, z, data.total);
    } else if (TILING_KEY_IS(5)) {
        WithPipe<512> all;
        all.adder.Init(x, bias, z, data.total, all.pipe);
        all.adder.Process();
    } else if (TILING_KEY_IS(6)) {
        Run<512, 1, 1>(x, bias, z, data.total);
    }
}
