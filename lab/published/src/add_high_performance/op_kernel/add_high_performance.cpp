// Seven ways to add two large matrices of half, slowest first:
//   0  one core, element by element on the scalar unit
//   1  one core, the vector unit, tiles of 4096 elements
//   2  48 cores
//   3  tiles of 16384
//   4  two buffers
//   5  the sources past L2
//   6  tiles of 16256, laid out without bank conflicts
#include "kernel_operator.h"

using AscendC::HardEvent;
using AscendC::LocalTensor;

namespace {

constexpr uint32_t SMALL_TILE = 4096;
constexpr uint32_t LARGE_TILE = 16384;
constexpr uint32_t SHIFTED_TILE = 16256;

// Where the buffers of one stage of the pipeline lie in UB, in bytes.
struct Place {
    uint32_t x;
    uint32_t y;
    uint32_t z;
};

constexpr uint32_t LARGE = LARGE_TILE * sizeof(half);
constexpr uint32_t SHIFTED = SHIFTED_TILE * sizeof(half);
constexpr Place PLAIN[2] = {{0, LARGE, 2 * LARGE}, {3 * LARGE, 4 * LARGE, 5 * LARGE}};
// Both sources of a stage lie in other bank groups, the result in another bank.
constexpr Place APART[2] = {{0, SHIFTED, 4 * LARGE},
                            {2 * LARGE, 2 * LARGE + SHIFTED, 4 * LARGE + SHIFTED}};

template <uint32_t TILE, bool SCALAR, bool TWO_BUFFERS, bool PAST_L2, bool SHIFT>
class Adder {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows, uint32_t columns)
    {
        const uint32_t cores = AscendC::GetBlockNum();
        const uint32_t core = AscendC::GetBlockIdx();
        const uint32_t base = rows / cores;
        const uint32_t longer = rows % cores;  // cores that take a row more
        const uint32_t first = core * base + (core < longer ? core : longer);
        count = (base + (core < longer ? 1 : 0)) * columns;
        const uint64_t offset = static_cast<uint64_t>(first) * columns;
        xGlobal.SetGlobalBuffer((__gm__ half*)x + offset, count);
        yGlobal.SetGlobalBuffer((__gm__ half*)y + offset, count);
        zGlobal.SetGlobalBuffer((__gm__ half*)z + offset, count);
        if constexpr (PAST_L2) {
            xGlobal.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
            yGlobal.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        }
    }

    __aicore__ inline void Process()
    {
        constexpr int32_t STAGES = TWO_BUFFERS ? 2 : 1;
        for (int32_t stage = 0; stage < STAGES; stage++) {
            AscendC::SetFlag<HardEvent::V_MTE2>(stage);
            AscendC::SetFlag<HardEvent::MTE3_V>(stage);
        }
        const uint32_t tiles = (count + TILE - 1) / TILE;
        for (uint32_t tile = 0; tile < tiles; tile++) {
            const int32_t stage = TWO_BUFFERS ? tile & 1 : 0;
            const uint32_t start = tile * TILE;
            One(stage, start, count - start > TILE ? TILE : count - start);
        }
        for (int32_t stage = 0; stage < STAGES; stage++) {
            AscendC::WaitFlag<HardEvent::V_MTE2>(stage);
            AscendC::WaitFlag<HardEvent::MTE3_V>(stage);
        }
    }

private:
    __aicore__ inline void One(int32_t stage, uint32_t start, uint32_t length)
    {
        const Place& place = SHIFT ? APART[stage] : PLAIN[stage];
        LocalTensor<half> x(AscendC::TPosition::VECCALC, place.x, LARGE_TILE);
        LocalTensor<half> y(AscendC::TPosition::VECCALC, place.y, LARGE_TILE);
        LocalTensor<half> z(AscendC::TPosition::VECCALC, place.z, LARGE_TILE);
        AscendC::WaitFlag<HardEvent::V_MTE2>(stage);
        AscendC::DataCopy(x, xGlobal[start], length);
        AscendC::DataCopy(y, yGlobal[start], length);
        AscendC::SetFlag<HardEvent::MTE2_V>(stage);
        AscendC::WaitFlag<HardEvent::MTE2_V>(stage);
        AscendC::WaitFlag<HardEvent::MTE3_V>(stage);
        if constexpr (SCALAR) {
            AddElements(x, y, z, length);
        } else {
            AscendC::Add(z, x, y, length);
        }
        AscendC::SetFlag<HardEvent::V_MTE2>(stage);
        AscendC::SetFlag<HardEvent::V_MTE3>(stage);
        AscendC::WaitFlag<HardEvent::V_MTE3>(stage);
        AscendC::DataCopy(zGlobal[start], z, length);
        AscendC::SetFlag<HardEvent::MTE3_V>(stage);
    }

    // The scalar unit waits for the vector unit's flags, and the store for the scalar unit.
    __aicore__ inline void AddElements(const LocalTensor<half>& x, const LocalTensor<half>& y,
                                       const LocalTensor<half>& z, uint32_t length)
    {
        AscendC::SetFlag<HardEvent::V_S>(0);
        AscendC::WaitFlag<HardEvent::V_S>(0);
        for (uint32_t i = 0; i < length; i++) {
            const float sum = static_cast<float>(x.GetValue(i)) + static_cast<float>(y.GetValue(i));
            z.SetValue(i, static_cast<half>(sum));
        }
        AscendC::SetFlag<HardEvent::S_V>(0);
        AscendC::WaitFlag<HardEvent::S_V>(0);
    }

    AscendC::GlobalTensor<half> xGlobal;
    AscendC::GlobalTensor<half> yGlobal;
    AscendC::GlobalTensor<half> zGlobal;
    uint32_t count;
};

}  // namespace

extern "C" __global__ __aicore__ void add_high_performance(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                           GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(0)) {
        Adder<SMALL_TILE, true, false, false, false> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    } else if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        Adder<SMALL_TILE, false, false, false, false> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    } else if (TILING_KEY_IS(3)) {
        Adder<LARGE_TILE, false, false, false, false> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    } else if (TILING_KEY_IS(4)) {
        Adder<LARGE_TILE, false, true, false, false> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    } else if (TILING_KEY_IS(5)) {
        Adder<LARGE_TILE, false, true, true, false> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    } else if (TILING_KEY_IS(6)) {
        Adder<SHIFTED_TILE, false, true, true, true> adder;
        adder.Init(x, y, z, data.rows, data.columns);
        adder.Process();
    }
}
