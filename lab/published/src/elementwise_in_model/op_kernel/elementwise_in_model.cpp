// What a training step does with each of its tensors, in tiles through two buffers a queue:
//   1  times a factor, which is copied in as a tensor of its own    2  Relu    3  a copy
//   4  plus, 5  over such a factor    6  ones, 7  the factor itself, everywhere
//   8  the gradient of Relu: x where the second tensor is above zero
#include "kernel_operator.h"

namespace {

constexpr int32_t BUFFERS = 2;
constexpr uint32_t BLOCK = 8;
constexpr uint32_t REPEAT = 64;
constexpr uint32_t MASK_BYTES = 512;  // a bit for each of the 4096 elements of the longest tile

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
        given.SetGlobalBuffer((__gm__ float*)factor + (KIND == 8 ? start : 0),
                              KIND == 8 ? count : 1);
        pipe.InitBuffer(in, BUFFERS, tile * sizeof(float));
        pipe.InitBuffer(out, BUFFERS, tile * sizeof(float));
        pipe.InitBuffer(once, 1, BLOCK * sizeof(float));
        if constexpr (KIND == 5) {
            pipe.InitBuffer(divisors, tile * sizeof(float));
        } else if constexpr (KIND == 8) {
            pipe.InitBuffer(second, BUFFERS, tile * sizeof(float));
            pipe.InitBuffer(kept, MASK_BYTES);
        }
    }

    __aicore__ inline void Process()
    {
        if (count == 0) {
            return;
        }
        float by = 1;
        if constexpr (KIND == 1 || KIND == 4 || KIND == 5 || KIND == 7) {
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
            AscendC::LocalTensor<float> y = out.AllocTensor<float>();
            if constexpr (KIND == 6 || KIND == 7) {
                AscendC::Duplicate(y, by, size);
            } else {
                AscendC::LocalTensor<float> x = in.AllocTensor<float>();
                AscendC::DataCopyPad(x, source[at], {1, bytes, 0, 0, 0}, {});
                in.EnQue(x);
                x = in.DeQue<float>();
                Compute(y, x, by, at, size);
                in.FreeTensor(x);
            }
            out.EnQue(y);
            y = out.DeQue<float>();
            AscendC::DataCopyPad(target[at], y, {1, bytes, 0, 0, 0});
            out.FreeTensor(y);
        }
    }

private:
    __aicore__ inline void Compute(AscendC::LocalTensor<float>& y, AscendC::LocalTensor<float>& x,
                                   float by, uint32_t at, uint32_t size)
    {
        if constexpr (KIND == 1) {
            AscendC::Muls(y, x, by, size);
        } else if constexpr (KIND == 2) {
            AscendC::Relu(y, x, size);
        } else if constexpr (KIND == 3) {
            AscendC::Adds(y, x, 0.0f, size);
        } else if constexpr (KIND == 4) {
            AscendC::Adds(y, x, by, size);
        } else if constexpr (KIND == 5) {
            AscendC::LocalTensor<float> all = divisors.Get<float>();
            AscendC::Duplicate(all, by, size);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Div(y, x, all, size);
        } else {
            AscendC::LocalTensor<float> features = second.AllocTensor<float>();
            AscendC::DataCopyPad(features, given[at], {1, uint32_t(size * sizeof(float)), 0, 0, 0},
                                 {});
            second.EnQue(features);
            features = second.DeQue<float>();
            AscendC::LocalTensor<uint8_t> above = kept.Get<uint8_t>();
            const uint32_t whole = (size + REPEAT - 1) / REPEAT * REPEAT;
            AscendC::CompareScalar(above, features, 0.0f, AscendC::CMPMODE::GT, whole);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Select(y, above, x, 0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, size);
            second.FreeTensor(features);
        }
    }

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFERS> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFERS> out;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> once;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFERS> second;
    AscendC::TBuf<AscendC::TPosition::VECCALC> divisors;
    AscendC::TBuf<AscendC::TPosition::VECCALC> kept;
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
    } else if (TILING_KEY_IS(4)) {
        Run<4>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(5)) {
        Run<5>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(6)) {
        Run<6>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(7)) {
        Run<7>(x, factor, y, data.total, data.share, data.tile);
    } else if (TILING_KEY_IS(8)) {
        Run<8>(x, factor, y, data.total, data.share, data.tile);
    }
}
