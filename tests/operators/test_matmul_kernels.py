"""Kernels that use the Matmul API in other ways than matmul_relu_scale does."""

from __future__ import annotations

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.trial import Candidate, Trial
from ci.source.workload_file import load_workload
from tests.operators.test_operators import operator

OPERATOR = operator("matmul_relu_scale")
KERNEL = OPERATOR.kernel_entry
HOST = "op_host/matmul_relu_scale.cpp"

# The cube core multiplies both vector cores' parts into C on its own account and signals; the
# vector cores do the rest there.
CUBE_ONLY = """
#define ASCENDC_CUBE_ONLY
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void matmul_relu_scale(GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                        GM_ADDR scale, GM_ADDR c,
                                                        GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    const TCubeTiling& t = tilingData.cube;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tilingData.cube);
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm, biasGm, scaleGm;
    aGm.SetGlobalBuffer((__gm__ half*)a);
    bGm.SetGlobalBuffer((__gm__ half*)b);
    cGm.SetGlobalBuffer((__gm__ float*)c);
    biasGm.SetGlobalBuffer((__gm__ float*)bias);
    scaleGm.SetGlobalBuffer((__gm__ float*)scale);
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 2 * t.singleCoreN * sizeof(float));
    LocalTensor<float> row = buffer.Get<float>();
    LocalTensor<float> factor = row[t.singleCoreN];
    bool multiplies = g_coreType == AIC;
    int first = multiplies ? GetBlockIdx() * 2 : GetBlockIdx();
    if (!multiplies) CrossCoreWaitFlag(5);
    for (int index = first; index < first + (multiplies ? 2 : 1); index++) {
        int m = index % tilingData.coresM * t.singleCoreM;
        int n = index / tilingData.coresM * t.singleCoreN;
        if (n >= t.N) continue;
        int rows = t.M - m < t.singleCoreM ? t.M - m : t.singleCoreM;
        int columns = t.N - n < t.singleCoreN ? t.N - n : t.singleCoreN;
        if (multiplies) {
            mm.SetTail(rows, columns, t.singleCoreK);
            mm.SetTensorA(aGm[m * t.Ka]);
            mm.SetTensorB(bGm[n]);
            mm.SetBias(biasGm[n]);
            mm.IterateAll(cGm[m * t.N + n]);
            continue;
        }
        DataCopy(factor, scaleGm[n], columns);
        for (int i = 0; i < rows; i++) {
            DataCopy(row, cGm[(m + i) * t.N + n], columns);
            PipeBarrier<PIPE_ALL>();
            Relu(row, row, columns);
            PipeBarrier<PIPE_ALL>();
            Mul(row, row, factor, columns);
            PipeBarrier<PIPE_ALL>();
            DataCopy(cGm[(m + i) * t.N + n], row, columns);
            PipeBarrier<PIPE_ALL>();
        }
    }
    if (multiplies) CrossCoreSetFlag<2, PIPE_FIX>(5);
}
"""


def trial(kernel: str, host: str | None = None) -> Trial:
    """The larger case with this kernel."""
    files = {KERNEL: kernel, HOST: host or OPERATOR.read(HOST)}
    workload = load_workload(OPERATOR)
    workload = workload.model_copy(update={"seeds": (1,), "cases": workload.cases[:1]})
    backend = make_backend("sim", "910B4")
    evaluator = Evaluator(OPERATOR, workload, backend, settings=EvaluationSettings())
    return evaluator.evaluate(Candidate(files=files), 0)


def replaced(file: str, *changes: tuple[str, str]) -> str:
    text = OPERATOR.read(file)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.long
def test_blocks_computed_ahead_into_a_workspace_are_fetched_in_their_order() -> None:
    of_this_core = "GetUserWorkspace(GetSysWorkSpacePtr()) + GetBlockIdx() * (1 << 16)"
    kernel = replaced(
        KERNEL,
        ("mm.Iterate()", "mm.Iterate<false>()"),
        ("mm.GetTensorC(result, false, true)", "mm.GetTensorC<false>(result)"),
        ("GlobalTensor<float> cGm;", "GlobalTensor<float> cGm, cache;"),
        (
            "mm.SetBias(biasGm);",
            f"mm.SetBias(biasGm); cache.SetGlobalBuffer((__gm__ float*)({of_this_core}));"
            "mm.SetWorkspace(cache);",
        ),
    )
    size = "platform.GetLibApiWorkSpaceSize()"
    done = trial(kernel, replaced(HOST, (size, f"{size} + (4 << 20)")))
    assert done.outcome == "ok", done.refusal


@pytest.mark.long
def test_a_host_fills_the_plain_tiling_that_kernels_share() -> None:
    asked = "if (cube.GetTiling(tiling.cube) == -1) {"
    same = (
        "::TCubeTiling plain{}; if (cube.GetTiling(plain) == -1 || plain.singleCoreN == 0 || "
        "plain.singleCoreN != tiling.cube.get_singleCoreN()) return ge::GRAPH_FAILED;"
    )
    header = '#include "kernel_tiling/kernel_tiling.h"\n'
    host = replaced(HOST, (asked, f"cube.GetTiling(tiling.cube); {same} {asked}"))
    done = trial(OPERATOR.read(KERNEL), header + host)
    assert done.outcome == "ok", done.refusal


def test_a_cube_core_multiplies_on_its_own_account_beside_vector_cores() -> None:
    done = trial(CUBE_ONLY)
    assert done.outcome == "ok", done.refusal


def test_a_switch_without_effect_here_is_refused_with_a_sentence() -> None:
    config = (
        "constexpr MatmulConfig Switched() { MatmulConfig c = CFG_NORM; "
        "c.intraBlockPartSum = true; return c; }\nconstexpr MatmulConfig SWITCHED = Switched();\n"
    )
    last = "MatmulType<TPosition::GM, CubeFormat::ND, float>>\n        mm;"
    kernel = replaced(
        KERNEL,
        ("constexpr uint32_t BLOCK_FLOATS", f"{config}constexpr uint32_t BLOCK_FLOATS"),
        (last, last.replace("float>>", "float>, SWITCHED>")),
    )
    done = trial(kernel)
    assert done.outcome == "compile_error"
    assert done.refusal is not None
    sentence = done.refusal.sentence
    assert "no intraBlockPartSum; compile it against the real headers" in sentence
