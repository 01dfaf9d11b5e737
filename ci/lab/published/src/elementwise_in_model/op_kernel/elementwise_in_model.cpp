// What a training step does with each of its tensors, in tiles through two buffers a queue:
//   1  times a factor, which is copied in as a tensor of its own    2  Relu    3  a copy
#include "kernel_operator.h"

namespace {

constexpr int32_t BUFFERS = 2;
constexpr uint32_t BLOCK = 8;

template <uint32_t KIND>
class Elementwise {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR factor, GM_ADDR y, uint32_t total,
                                uint32_t share, uint32_t tile)
    {
        const uint32_t start = AscendC::GetBlockIdx() * share;
        count = start >= total ? 0 : total - start < share ? total - start : share;
        length = tile;
        source.SetGlobalBuffer((__gm__ float*)x + start, count);
        target.SetGlobalBuffer((__gm__ float*)y + start, count);
        given.SetGlobalBuffer((__gm__ float*)factor, 1);
        pipe.InitBuffer(in, BUFFERS, tile * sizeof(float));
        pipe.InitBuffer(out, BUFFERS, tile * sizeof(float));
        pipe.InitBuffer(once, 1, BLOCK * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        if (count == 0) {
            return;
        }
        float by = 1;
        if constexpr (KIND == 1) {
            AscendC::LocalTensor<float> loaded = once.AllocTensor<float>();
            AscendC::DataCopyPad(loaded, given, {1, sizeof(float), 0, 0, 0}, {});
            once.EnQue(loaded);
            loaded = once.DeQue<float>();
            by = loaded.GetValue(0);
            once.FreeTensor(loaded);
        }
        for (uint32_t at = 0; at < count; at += length) {
            const uint32_t size = count - at < length ? count - at : length;
            const uint32_t bytes = size * sizeof(float);
            AscendC::LocalTensor<float> x = in.AllocTensor<float>();
            AscendC::DataCopyPad(x, source[at], {1, bytes, 0, 0, 0}, {});
            in.EnQue(x);
            x = in.DeQue<float>();
            AscendC::LocalTensor<float> y = out.AllocTensor<float>();
            if constexpr (KIND == 1) {
                AscendC::Muls(y, x, by, size);
            } else if constexpr (KIND == 2) {
                AscendC::Relu(y, x, size);
            } else {
                AscendC::Adds(y, x, 0.0f, size);
            }
            in.FreeTensor(x);
            out.EnQue(y);
            y = out.DeQue<float>();
            AscendC::DataCopyPad(target[at], y, {1, bytes, 0, 0, 0});
            out.FreeTensor(y);
        }
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFERS> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFERS> out;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> once;
    AscendC::GlobalTensor<float> source;
    AscendC::GlobalTensor<float> given;
    AscendC::GlobalTensor<float> target;
    uint32_t count;
    uint32_t length;
};

template <uint32_t KIND>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR factor, GM_ADDR y, uint32_t total, uint32_t share,
                           uint32_t tile)
{
    Elementwise<KIND> all;
    all.Init(x, factor, y, total, share, tile);
    all.Process();
}

}  // namespace

extern "C" __global__ __aicore__ void elementwise_in_model(GM_ADDR x, GM_ADDR factor, GM_ADDR y,
                                                           GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        Run<1>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(2)) {
        Run<2>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(3)) {
        Run<3>(x, factor, y, data.total, data.share, data.tile);
    }
}
