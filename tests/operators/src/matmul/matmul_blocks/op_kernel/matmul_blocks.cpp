#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t L1_HALF = 128 * 1024;   // A and B have two parts of L1 each
constexpr uint32_t L0_HALF = 32 * 1024;
constexpr uint32_t FRACTAL = 16;
constexpr uint32_t SMALL_BLOCK = 10;       // fractals of C below which sums need a barrier

// C = A * B^T. L1 holds stepKa (stepKb) blocks of A (B) twice, L0A and L0B one block twice; unit
// flags let the fixpipe follow the cube.
template <typename T>
class MatmulBlocks {
public:
    __aicore__ inline MatmulBlocks() {}
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, const MatmulBlocksTilingData& t)
    {
        tiling = t;
        aGm.SetGlobalBuffer((__gm__ T*)a);
        bGm.SetGlobalBuffer((__gm__ T*)b);
        cGm.SetGlobalBuffer((__gm__ T*)c);
        coresM = (t.m + t.coreM - 1) / t.coreM;
    }

    __aicore__ inline void Process()
    {
        uint32_t firstM = GetBlockIdx() % coresM * tiling.coreM;
        uint32_t firstN = GetBlockIdx() / coresM * tiling.coreN;
        uint32_t endM = Min(firstM + tiling.coreM, tiling.m);
        uint32_t endN = Min(firstN + tiling.coreN, tiling.n);
        for (int32_t i = 0; i < 4; i++) {
            SetFlag<HardEvent::MTE1_MTE2>(i);
        }
        SetFlag<HardEvent::M_MTE1>(0);
        SetFlag<HardEvent::M_MTE1>(1);
        for (uint32_t m = firstM; m < endM; m += tiling.baseM) {
            for (uint32_t n = firstN; n < endN; n += tiling.baseN) {
                Block(m, n, Min(tiling.baseM, endM - m), Min(tiling.baseN, endN - n));
            }
        }
        for (int32_t i = 0; i < 4; i++) {
            WaitFlag<HardEvent::MTE1_MTE2>(i);
        }
        WaitFlag<HardEvent::M_MTE1>(0);
        WaitFlag<HardEvent::M_MTE1>(1);
    }

private:
    __aicore__ inline uint32_t Min(uint32_t a, uint32_t b) { return a < b ? a : b; }
    __aicore__ inline uint32_t Align(uint32_t value) { return (value + FRACTAL - 1) / FRACTAL * FRACTAL; }

    // rows x (steps * baseK) elements into part `part` (0 or 1) of an operand's half of L1
    __aicore__ inline void CopyIn(GlobalTensor<T>& gm, uint32_t row, uint32_t rows, uint32_t k,
                                  uint32_t steps, bool isB, uint32_t part)
    {
        int32_t event = static_cast<int32_t>(part) + (isB ? 2 : 0);
        LocalTensor<T> local(TPosition::A1, (isB ? 2 : 0) * L1_HALF + part * L1_HALF, L1_HALF / sizeof(T));
        WaitFlag<HardEvent::MTE1_MTE2>(event);
        Nd2NzParams params;
        params.ndNum = 1;
        params.nValue = rows;
        params.dValue = Min(steps * tiling.baseK, tiling.k - k);
        params.srcDValue = tiling.k;
        params.dstNzC0Stride = Align(rows);
        params.dstNzNStride = 1;
        DataCopy(local, gm[static_cast<uint64_t>(row) * tiling.k + k], params);
        SetFlag<HardEvent::MTE2_MTE1>(event);
    }

    __aicore__ inline void LoadA(uint32_t part, uint32_t step, uint32_t rows, uint32_t depth)
    {
        LocalTensor<T> from(TPosition::A1, part * L1_HALF, L1_HALF / sizeof(T));
        LocalTensor<T> to(TPosition::A2, l0Part * L0_HALF, L0_HALF / sizeof(T));
        LoadData3DParamsV2<T> params;
        params.l1H = 1;
        params.l1W = Align(rows);
        params.channelSize = Align(depth);
        params.kExtension = Align(depth);
        params.mExtension = Align(rows);
        LoadData(to, from[step * tiling.baseK * Align(rows)], params);
    }

    __aicore__ inline void LoadB(uint32_t part, uint32_t step, uint32_t columns, uint32_t depth)
    {
        LocalTensor<T> from(TPosition::B1, 2 * L1_HALF + part * L1_HALF, L1_HALF / sizeof(T));
        LocalTensor<T> to(TPosition::B2, l0Part * L0_HALF, L0_HALF / sizeof(T));
        LoadData2DParams params;
        params.repeatTimes = Align(columns) / FRACTAL * (Align(depth) / FRACTAL);
        params.srcStride = 1;
        LoadData(to, from[step * tiling.baseK * Align(columns)], params);
    }

    __aicore__ inline void Block(uint32_t m, uint32_t n, uint32_t rows, uint32_t columns)
    {
        uint32_t steps = (tiling.k + tiling.baseK - 1) / tiling.baseK;
        CopyIn(bGm, n, columns, 0, tiling.stepKb, true, bParts % 2);
        CopyIn(aGm, m, rows, 0, tiling.stepKa, false, aParts % 2);
        LocalTensor<float> result(TPosition::CO1, 0, tiling.baseM * tiling.baseN);
        for (uint32_t step = 0; step < steps; step++) {
            uint32_t inA = step % tiling.stepKa;
            uint32_t inB = step % tiling.stepKb;
            uint32_t partA = (aParts + step / tiling.stepKa) % 2;
            uint32_t partB = (bParts + step / tiling.stepKb) % 2;
            bool lastA = inA + 1 == tiling.stepKa || step + 1 == steps;
            bool lastB = inB + 1 == tiling.stepKb || step + 1 == steps;
            // the next parts come while this one is used
            if (inB == 0 && step + tiling.stepKb < steps) {
                CopyIn(bGm, n, columns, (step + tiling.stepKb) * tiling.baseK, tiling.stepKb, true, 1 - partB);
            }
            if (inA == 0 && step + tiling.stepKa < steps) {
                CopyIn(aGm, m, rows, (step + tiling.stepKa) * tiling.baseK, tiling.stepKa, false, 1 - partA);
            }
            WaitFlag<HardEvent::M_MTE1>(l0Part);
            if (inA == 0) {
                WaitFlag<HardEvent::MTE2_MTE1>(partA);
            }
            if (inB == 0) {
                WaitFlag<HardEvent::MTE2_MTE1>(partB + 2);
            }
            uint32_t depth = Min(tiling.baseK, tiling.k - step * tiling.baseK);
            LoadA(partA, inA, rows, depth);
            LoadB(partB, inB, columns, depth);
            if (lastA) {
                SetFlag<HardEvent::MTE1_MTE2>(partA);
            }
            if (lastB) {
                SetFlag<HardEvent::MTE1_MTE2>(partB + 2);
            }
            SetFlag<HardEvent::MTE1_M>(l0Part);
            WaitFlag<HardEvent::MTE1_M>(l0Part);
            Multiply(result, rows, columns, depth, step == 0, step + 1 == steps);
            SetFlag<HardEvent::M_MTE1>(l0Part);
            l0Part = 1 - l0Part;
        }
        aParts += (steps + tiling.stepKa - 1) / tiling.stepKa;
        bParts += (steps + tiling.stepKb - 1) / tiling.stepKb;
        CopyOut(result, m, n, rows, columns);
    }

    __aicore__ inline void Multiply(const LocalTensor<float>& result, uint32_t rows, uint32_t columns,
                                    uint32_t depth, bool first, bool last)
    {
        LocalTensor<T> a(TPosition::A2, l0Part * L0_HALF, L0_HALF / sizeof(T));
        LocalTensor<T> b(TPosition::B2, l0Part * L0_HALF, L0_HALF / sizeof(T));
        MmadParams params;
        params.m = Align(rows);    // a single row would be read as a vector
        params.n = columns;
        params.k = depth;
        params.cmatrixInitVal = first;
        params.unitFlag = last ? 3 : 2;
        Mmad(result, a, b, params);
        if (Align(rows) / FRACTAL * (Align(columns) / FRACTAL) < SMALL_BLOCK) {
            PipeBarrier<PIPE_M>();
        }
    }

    __aicore__ inline void CopyOut(const LocalTensor<float>& result, uint32_t m, uint32_t n, uint32_t rows,
                                   uint32_t columns)
    {
        FixpipeParamsV220 params;
        params.nSize = columns;
        params.mSize = rows;
        params.srcStride = Align(rows);
        params.dstStride = tiling.n;
        params.quantPre = IsSameType<T, half>::value ? QuantMode_t::F322F16 : QuantMode_t::F322BF16;
        params.unitFlag = 3;
        Fixpipe(cGm[static_cast<uint64_t>(m) * tiling.n + n], result, params);
    }

    MatmulBlocksTilingData tiling;
    GlobalTensor<T> aGm;
    GlobalTensor<T> bGm;
    GlobalTensor<T> cGm;
    uint32_t coresM = 1;
    uint32_t aParts = 0;   // parts of A that earlier blocks took
    uint32_t bParts = 0;
    uint32_t l0Part = 0;
};

extern "C" __global__ __aicore__ void matmul_blocks(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace,
                                                    GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        MatmulBlocks<DTYPE_A> op;
        op.Init(a, b, c, tilingData);
        op.Process();
    }
}
