// The versions of matmul_basic_api as their description says: blocks of 128 x 256 x 64, eight
// blocks of A and four of B a copy, both twice in L1; image-to-column loads; unit flags; a constant
// split. Version 1 gives each core 2048 x 1536 of C, version 2 twice 1024 x 1536.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t L1_HALF = 128 * 1024;   // A and B have two parts of L1 each
constexpr uint32_t L0_HALF = 32 * 1024;
constexpr uint32_t FRACTAL = 16;
constexpr uint32_t BASE_M = 128;
constexpr uint32_t BASE_N = 256;
constexpr uint32_t BASE_K = 64;
constexpr uint32_t STEP_KA = 8;
constexpr uint32_t STEP_KB = 4;
constexpr uint32_t CORE_N = 1536;

template <typename T, uint32_t CORE_M, uint32_t ROUNDS>
class MatmulBasicApi {
public:
    __aicore__ inline MatmulBasicApi() {}
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, const MatmulBasicApiTilingData& t)
    {
        tiling = t;
        aGm.SetGlobalBuffer((__gm__ T*)a);
        bGm.SetGlobalBuffer((__gm__ T*)b);
        cGm.SetGlobalBuffer((__gm__ T*)c);
        coresM = (t.m + CORE_M - 1) / CORE_M / ROUNDS;
    }

    __aicore__ inline void Process()
    {
        for (int32_t i = 0; i < 4; i++) {
            SetFlag<HardEvent::MTE1_MTE2>(i);
        }
        SetFlag<HardEvent::M_MTE1>(0);
        SetFlag<HardEvent::M_MTE1>(1);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t firstM = (GetBlockIdx() % coresM + round * coresM) * CORE_M;
            uint32_t firstN = GetBlockIdx() / coresM * CORE_N;
            uint32_t endM = Min(firstM + CORE_M, tiling.m);
            uint32_t endN = Min(firstN + CORE_N, tiling.n);
            for (uint32_t m = firstM; m < endM; m += BASE_M) {
                for (uint32_t n = firstN; n < endN; n += BASE_N) {
                    Block(m, n, Min(BASE_M, endM - m), Min(BASE_N, endN - n));
                }
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
        params.dValue = Min(steps * BASE_K, tiling.k - k);
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
        LoadData(to, from[step * BASE_K * Align(rows)], params);
    }

    __aicore__ inline void LoadB(uint32_t part, uint32_t step, uint32_t columns, uint32_t depth)
    {
        LocalTensor<T> from(TPosition::B1, 2 * L1_HALF + part * L1_HALF, L1_HALF / sizeof(T));
        LocalTensor<T> to(TPosition::B2, l0Part * L0_HALF, L0_HALF / sizeof(T));
        LoadData2DParams params;
        params.repeatTimes = Align(columns) / FRACTAL * (Align(depth) / FRACTAL);
        params.srcStride = 1;
        LoadData(to, from[step * BASE_K * Align(columns)], params);
    }

    __aicore__ inline void Block(uint32_t m, uint32_t n, uint32_t rows, uint32_t columns)
    {
        uint32_t steps = (tiling.k + BASE_K - 1) / BASE_K;
        CopyIn(bGm, n, columns, 0, STEP_KB, true, bParts % 2);
        CopyIn(aGm, m, rows, 0, STEP_KA, false, aParts % 2);
        LocalTensor<float> result(TPosition::CO1, 0, BASE_M * BASE_N);
        for (uint32_t step = 0; step < steps; step++) {
            uint32_t inA = step % STEP_KA;
            uint32_t inB = step % STEP_KB;
            uint32_t partA = (aParts + step / STEP_KA) % 2;
            uint32_t partB = (bParts + step / STEP_KB) % 2;
            bool lastA = inA + 1 == STEP_KA || step + 1 == steps;
            bool lastB = inB + 1 == STEP_KB || step + 1 == steps;
            // the next parts come while this one is used
            if (inB == 0 && step + STEP_KB < steps) {
                CopyIn(bGm, n, columns, (step + STEP_KB) * BASE_K, STEP_KB, true, 1 - partB);
            }
            if (inA == 0 && step + STEP_KA < steps) {
                CopyIn(aGm, m, rows, (step + STEP_KA) * BASE_K, STEP_KA, false, 1 - partA);
            }
            WaitFlag<HardEvent::M_MTE1>(l0Part);
            if (inA == 0) {
                WaitFlag<HardEvent::MTE2_MTE1>(partA);
            }
            if (inB == 0) {
                WaitFlag<HardEvent::MTE2_MTE1>(partB + 2);
            }
            uint32_t depth = Min(BASE_K, tiling.k - step * BASE_K);
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
        aParts += (steps + STEP_KA - 1) / STEP_KA;
        bParts += (steps + STEP_KB - 1) / STEP_KB;
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

    MatmulBasicApiTilingData tiling;
    GlobalTensor<T> aGm;
    GlobalTensor<T> bGm;
    GlobalTensor<T> cGm;
    uint32_t coresM = 1;
    uint32_t aParts = 0;   // parts of A that earlier blocks took
    uint32_t bParts = 0;
    uint32_t l0Part = 0;
};

extern "C" __global__ __aicore__ void matmul_basic_api(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace,
                                                       GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        MatmulBasicApi<DTYPE_A, 2048, 1> op;
        op.Init(a, b, c, tilingData);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        MatmulBasicApi<DTYPE_A, 1024, 2> op;
        op.Init(a, b, c, tilingData);
        op.Process();
    }
}
