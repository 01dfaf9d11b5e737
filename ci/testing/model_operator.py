"""An operator in source, and an evaluator that computes a time from what its texts say.

The search is tested on this function of the texts: it is smooth, deterministic, has failures in
it and a known optimum, and needs no compiler. Everything else in these tests is the real thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from ci.judge.base import Judge
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.result import Verification
from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    Fingerprint,
    Measurement,
    Outcome,
    PipeTime,
    Refusal,
    Trial,
)
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator

HOST = """#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
namespace optiling {
const uint32_t BLOCK_SIZE = 32;
const uint32_t BUFFER_NUM = 1;
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    ScaleRowsTilingData tiling;
    uint64_t ubSize = 0;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);
    auto coreNum = platform.GetCoreNumAiv();
    if (coreNum == 0) {
        return ge::GRAPH_FAILED;
    }
    // how many elements there are
    uint64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    uint64_t ubParts = 4;
    uint64_t tile = ubSize / ubParts / BUFFER_NUM / BLOCK_SIZE * 8;
    if (total <= tile) {
        coreNum = 1;
    } else {
        coreNum = coreNum < total / 8 ? coreNum : total / 8;
    }
    tiling.set_total(total);
    tiling.set_tile(tile);
    context->SetTilingKey(1);
    context->SetBlockDim(coreNum);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ops {
class ScaleRows : public OpDef {
public:
    explicit ScaleRows(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScaleRows);
}  // namespace ops
"""

KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
constexpr int32_t BUFFER_NUM = 1;
class KernelScaleRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t tile)
    {
        xGm.SetGlobalBuffer((__gm__ float*)x);
        yGm.SetGlobalBuffer((__gm__ float*)y);
        pipe.InitBuffer(inQueue, BUFFER_NUM, tile * sizeof(float));
        pipe.InitBuffer(outQueue, BUFFER_NUM, tile * sizeof(float));
        pipe.InitBuffer(tmpBuf, tile * sizeof(float));
    }
    __aicore__ inline void Compute(int32_t n)
    {
        LocalTensor<float> x = inQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        LocalTensor<float> tmp = tmpBuf.Get<float>();
        Muls(tmp, x, 2.0f, n);
        PipeBarrier<PIPE_V>();
        Duplicate(y, 3.0f, n);
        PipeBarrier<PIPE_V>();
        Add(y, y, tmp, n);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueue;
    TBuf<QuePosition::VECCALC> tmpBuf;
    GlobalTensor<float> xGm, yGm;
};
extern "C" __global__ __aicore__ void scale_rows(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelScaleRows op;
    op.Init(x, y, data.tile);
    op.Compute(data.tile);
}
"""

HOST_FILE = "op_host/scale_rows.cpp"
_AT_LEAST_ONE = re.compile(r"if \(coreNum < 1\) \{\s*coreNum = 1;\s*\}")
KERNEL_FILE = "op_kernel/scale_rows.cpp"

WORKLOAD = Workload(
    operator="ScaleRows",
    cases=(WorkloadCase(name="one", inputs=(TensorCase(shape=(64, 64), dtype="float32"),)),),
    folder=Path(),
)
_PRINT = Fingerprint(backend="replay", device="910B4", version="model", simulated=True)


def write(folder: Path, host: str = HOST, kernel: str = KERNEL) -> Operator:
    """The operator on disk, discovered like any other."""
    root = folder / "src" / "math" / "scale_rows"
    for file, text in ((HOST_FILE, host), (KERNEL_FILE, kernel)):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    return load_operator(root)


def _number(pattern: str, text: str, default: int) -> int:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else default


class ModelEvaluator(Judge):
    """Times as a function of the texts; too deep queues for the tile overflow UB."""

    def __init__(self, operator: Operator, *, fails_verification: int = 0) -> None:
        self.operator = operator
        self.evaluated: list[str] = []
        self.confirmed = 0
        self._fails_verification = fails_verification

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of a replay."""
        return _PRINT

    def program(self, candidate: Candidate) -> str:
        """Every text is a program of its own."""
        return ""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial by the model."""
        self.evaluated.append(candidate.hash)
        texts = self.operator.texts(candidate.files)
        host, kernel = texts[HOST_FILE], texts[KERNEL_FILE]
        depth = _number(r"BUFFER_NUM = (\d+)", kernel, 1)
        parts = _number(r"ubParts = (\d+)", host, 4) * _number(r"BUFFER_NUM = (\d+)", host, 1)
        share = _number(r"/ 16 \* (\d+)", host, 16)
        if (2 * depth + 1) * share > 16 * parts:
            return self._failed(candidate, number)
        one = "coreNum = 1;" in _AT_LEAST_ONE.sub("", host)
        cores = 1 if one else _number(r"coreNum > (\d+)\)", host, 40)
        work = 4000.0 / min(cores, 40) * (1.0 if depth == 1 else 0.6)
        work += 20 * len(re.findall("PipeBarrier", kernel)) + 30 * len(re.findall("Dupl", kernel))
        work += abs(share * 16 / parts - 20)
        cycles = int(500 + 10 * cores + work)
        busy = {"VECTOR": 0.3 * work, "MTE2": 0.5 * work, "MTE3": 0.3 * work, "SCALAR": 40.0}
        pipes = PipeTime(
            total_cycles=cycles,
            block_dim=cores,
            busy_cycles=busy,
            instructions={"vadd": 8, "pipe_barrier": 8, "copy_gm_to_ubuf": 8},
            gm_read_bytes=1 << 20,
            gm_write_bytes=1 << 20,
        )
        time = cycles / 1650
        case = CaseMeasurement(
            case="one", samples_us=(time,), median_us=time, low_us=time, high_us=time, pipes=pipes
        )
        measurement = Measurement(fingerprint=_PRINT, cases=(case,))
        return Trial(
            number=number, candidate=candidate, outcome=Outcome.OK, measurement=measurement
        )

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """Admits every trial."""
        return trial

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """The model is certain."""
        return {}

    def confirm(self, trial: Trial) -> Verification:
        """Passes, but for the first `fails_verification` candidates."""
        self.confirmed += 1
        if self._fails_verification:
            self._fails_verification -= 1
            raise TrialFailure(Outcome.WRONG_RESULT, Refusal(sentence="seed 7 is wrong."))
        return Verification(seeds=(1,), cases=1, elements=1, reference="golden", worst_error=0.1)

    @staticmethod
    def _failed(candidate: Candidate, number: int) -> Trial:
        refusal = Refusal(sentence="The queues do not fit the unified buffer.")
        return Trial(
            number=number, candidate=candidate, outcome=Outcome.MEMORY_ERROR, refusal=refusal
        )
