"""Operators that update their inputs, or add onto what the caller has put into an output."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.in_place import judged_operator
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload

HOST = """
#include "register/tilingdata_base.h"
#include "register/op_def_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(DoubleItTilingData)
TILING_DATA_FIELD_DEF(uint32_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(DoubleIt, DoubleItTilingData)
static ge::graphStatus Tile(gert::TilingContext* context) {
    DoubleItTilingData tiling;
    tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    context->SetTilingKey(1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ops {
class DoubleIt : public OpDef {
public:
    explicit DoubleIt(const char* name) : OpDef(name) {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_NHWC, ge::FORMAT_ND});
        this->Output("sum").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(DoubleIt);
}  // namespace ops
"""

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
// Doubles x where it lies (trebles it in the NHWC column), and adds x onto `sum`.
extern "C" __global__ __aicore__ void double_it(GM_ADDR x, GM_ADDR sum, GM_ADDR workspace,
    GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x);
    to.SetGlobalBuffer((__gm__ float*)sum);
    pipe.InitBuffer(buffer, 4096);
    LocalTensor<float> local = buffer.Get<float>();
    DataCopy(local, from, data.total);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(to, local, data.total);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    Muls(local, local, FORMAT_X == FORMAT_NHWC ? 3.0f : 2.0f, data.total);
    PipeBarrier<PIPE_ALL>();
    DataCopy(from, local, data.total);
}
"""

GOLDEN = """
def right(x):
    return x + {start}, x * {factor}
"""

WORKLOAD = """
operator: DoubleIt
golden: golden.py:right
in_place: [x]
initial: {{sum: {start}}}
cases:
  - name: small
    inputs:
      - {{shape: {shape}, dtype: float32{more}}}
"""


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    root = tmp_path_factory.mktemp("ops") / "src" / "math" / "double_it"
    for side, text in (("op_host", HOST), ("op_kernel", KERNEL)):
        (root / side).mkdir(parents=True)
        (root / side / "double_it.cpp").write_text(text)
    return load_operator(root)


def write(
    folder: Path, *, start: float = 5, factor: float = 2, more: str = "", shape: str = "[64]"
) -> Path:
    (folder / "golden.py").write_text(GOLDEN.format(start=start, factor=factor))
    (folder / "workload.yaml").write_text(WORKLOAD.format(start=start, more=more, shape=shape))
    return folder / "workload.yaml"


def judge(operator: Operator, file: Path) -> Trial:
    workload = load_workload(operator, file)
    return Evaluator(operator, workload, make_backend("sim", "910B4")).evaluate(Candidate(), 0)


def test_an_updated_input_and_a_filled_output_are_compared(
    operator: Operator, tmp_path: Path
) -> None:
    trial = judge(operator, write(tmp_path, more=", format: ND"))
    assert trial.outcome is Outcome.OK, trial.refusal


def test_a_wrong_update_is_a_wrong_result(operator: Operator, tmp_path: Path) -> None:
    trial = judge(operator, write(tmp_path, factor=2.5, more=", format: ND"))
    assert trial.outcome is Outcome.WRONG_RESULT
    assert trial.refusal and "output x" in trial.refusal.message


def test_the_format_chooses_the_column(operator: Operator, tmp_path: Path) -> None:
    # None is said: NHWC comes first where there are four dimensions.
    assert judge(operator, write(tmp_path)).outcome is Outcome.OK
    trial = judge(operator, write(tmp_path, factor=3, shape="[2, 2, 4, 4]"))
    assert trial.outcome is Outcome.OK
    trial = judge(operator, write(tmp_path, factor=3, more=", format: NHWC"))
    assert trial.outcome is Outcome.OK


def test_a_format_that_no_column_has_is_bad_input(operator: Operator, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is 'NCHW'; the op definition has NHWC, ND"):
        load_workload(operator, write(tmp_path, more=", format: NCHW"))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("in_place: [y]", "in_place.0.: names 'y'"),
        ("in_place: [sum]", "in_place.0.: names 'sum'"),
        ("initial: {x: 1}", "is no output"),
        ("initial: {sum: much}", "must be a number"),
    ],
)
def test_what_is_misspelt_is_bad_input(
    operator: Operator, tmp_path: Path, line: str, sentence: str
) -> None:
    file = write(tmp_path)
    key = line.split(":")[0]
    kept = [one for one in file.read_text().splitlines() if not one.startswith(key + ":")]
    file.write_text("\n".join([*kept, line]) + "\n")
    with pytest.raises(InputError, match=sentence):
        load_workload(operator, file)


def test_the_judged_operator_is_the_same_when_asked_twice(
    operator: Operator, tmp_path: Path
) -> None:
    workload = load_workload(operator, write(tmp_path))
    once = judged_operator(operator, workload)
    assert [spec.name for spec in once.outputs] == ["sum", "x"]
    assert judged_operator(once, workload) == once
    assert once.declared_tensors == 2
