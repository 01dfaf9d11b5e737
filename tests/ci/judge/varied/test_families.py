"""Each family of variation finds out a real candidate that the workload's own cases let pass."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import NamedTuple

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gates.varied import VariedGate
from ci.judge.varied.base import Family
from ci.judge.varied_sweep import QUICK, WIDE
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome
from ci.model.workload import TensorCase, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

FAMILIES = {family.name: family for family in WIDE.families}


class Fault(NamedTuple):
    """An edit of one of our operators that only one family finds out."""

    family: str
    operator: str
    file: str
    old: str
    new: str


LEAKY = "activation/leaky_relu_shift"
COUNT = "this->shift = tiling->shift;"
GATHER = "index/gather_rows"

FAULTS = (
    Fault(
        "threshold of its own",
        LEAKY,
        "kernel",
        COUNT,
        f"{COUNT} if (this->count > 32768) this->count = 8;",
    ),
    Fault("larger size", LEAKY, "host", "cores = platform.GetCoreNumAiv();", "cores = 2;"),
    Fault("threshold", LEAKY, "kernel", COUNT, f"{COUNT} if (tiling->total == TILE) count = 8;"),
    Fault("threshold", LEAKY, "kernel", "done < this->count;", "done + 8 < this->count;"),
    Fault(
        "number that is a length",
        "index/one_hot_rows",
        "kernel",
        "depth = t.depth;",
        "depth = t.depth > 1024 ? 1024 : t.depth;",
    ),
    Fault(
        "attribute",
        "optim/ema_update",
        "kernel",
        "this->rest = tiling->rest;",
        "float apart = tiling->decay - tiling->rest; this->rest = tiling->rest * "
        "(apart * apart / (apart * apart + 1e-30f));",
    ),
    Fault(
        "attribute",
        "optim/ema_update",
        "kernel",
        "this->rest = tiling->rest;",
        "this->rest = (tiling->rest + 1e-5f) - 1e-5f;",
    ),
    Fault(
        "attribute", LEAKY, "kernel", COUNT, f"{COUNT} if (this->shift == 0.0f) this->count = 0;"
    ),
    Fault(
        "length",
        LEAKY,
        "host",
        "if (total == 0 ||",
        "if (context->GetInputShape(0)->GetStorageShape().GetDim(1) > 2 * 512 || total == 0 ||",
    ),
    Fault(
        "proportion",
        LEAKY,
        "host",
        "if (total == 0 ||",
        "if (context->GetInputShape(0)->GetStorageShape().GetDim(1) * 9 < "
        "context->GetInputShape(0)->GetStorageShape().GetDim(0) || total == 0 ||",
    ),
    Fault(
        "rank",
        LEAKY,
        "host",
        "if (total == 0 ||",
        "if (context->GetInputShape(0)->GetStorageShape().GetDimNum() != 2 || total == 0 ||",
    ),
    Fault(
        "range",
        LEAKY,
        "kernel",
        "LeakyRelu(yLocal, shifted, 0.1f, length);",
        "LeakyRelu(yLocal, shifted, 0.1f, length); Mins(yLocal, yLocal, 50.0f, length);",
    ),
    Fault(
        "list length",
        "foreach/foreach_scale_add",
        "kernel",
        "k < data->tensorNum; k++",
        "k < (data->tensorNum < 3 ? data->tensorNum : 3); k++",
    ),
    Fault(
        "dtype",
        GATHER,
        "host",
        "context->SetTilingKey(typeBytes);",
        "context->SetTilingKey(typeBytes);\n    if (context->GetInputDesc(0)->GetDataType() == "
        "ge::DT_INT32) {\n        return ge::GRAPH_FAILED;\n    }",
    ),
    Fault(
        "empty input",
        GATHER,
        "host",
        "if (tableShape.GetDimNum() != 2) {",
        "if (tableShape.GetDimNum() != 2 || tableShape.GetDim(1) == 0) {",
    ),
    Fault(
        "given value", GATHER, "kernel", "if (row < 0) {", "if (row == 0) row = 1;\nif (row < 0) {"
    ),
    Fault(
        "optional input",
        "quant/dequant_channel",
        "kernel",
        "if constexpr (HAS_BIAS) {\n            Add",
        "if (HAS_BIAS && channels > 800) {\n            Add",
    ),
    Fault(
        "magnitude",
        LEAKY,
        "kernel",
        "LeakyRelu(yLocal, shifted, 0.1f, length);",
        "LeakyRelu(yLocal, shifted, 0.1f, length); Mins(yLocal, yLocal, 1e8f, length);",
    ),
    Fault(
        "special value",
        LEAKY,
        "kernel",
        "LeakyRelu(yLocal, shifted, 0.1f, length);",
        "LeakyRelu(yLocal, shifted, 0.1f, length); Mins(yLocal, yLocal, 3e38f, length);",
    ),
    Fault(
        "tie of rounding",
        "quant/round_to_int4",
        "kernel",
        "RoundMode::CAST_RINT",
        "RoundMode::CAST_ROUND",
    ),
    Fault(
        "integer that no float holds",
        "math/bias_add",
        "kernel",
        "Add(y, x, bias, count);",
        "Add(y, x, bias, count); PipeBarrier<PIPE_V>(); Mins(y, y, T(16777217.0f), count);",
    ),
)


GIVEN = {
    "given value": WorkloadCase(
        name="given",
        inputs=(
            TensorCase(shape=(64, 128), dtype="float16"),
            TensorCase(shape=(4,), dtype="int32", values=(3, 9, 5, -2)),
        ),
    ),
    "tie of rounding": WorkloadCase(
        name="none half way",
        inputs=(TensorCase(shape=(2, 128), dtype="float16", range=(1.51, 2.5)),),
        outputs=(TensorCase(shape=(2, 128), dtype="int4"),),
        attrs={"scale": 1.0},
    ),
}
"""The case where the operator's own would show the fault: 2.5 is rounded down or up."""


@cache
def judge(place: str, family: str) -> Evaluator:
    operator = load_operator(OPERATORS / "src" / place)
    workload = load_workload(operator)
    if family in GIVEN:
        workload = workload.model_copy(update={"cases": (GIVEN[family],)})
    return Evaluator(operator, workload, SimulatorBackend("910B4", launch_seconds=30))


def candidate(operator: Operator, fault: Fault) -> Candidate:
    sources = operator.host_sources if fault.file == "host" else operator.kernel_sources
    file = next(s for s in sources if fault.old in operator.read(s))
    return Candidate(files={file: operator.read(file).replace(fault.old, fault.new)})


def only(family: Family) -> VariedGate:
    class Only(VariedGate):
        name = "only"
        phase = "confirm"
        tier = dataclasses.replace(WIDE, families=(family,), regime_seconds=0.0)

    return Only()


@pytest.mark.few(2)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.family)
def test_a_fault_that_the_workload_does_not_show_is_found_out(fault: Fault) -> None:
    evaluator = judge(fault.operator, fault.family if fault.family in GIVEN else "")
    wrong = candidate(evaluator.operator, fault)
    trial = evaluator.evaluate(wrong, 1)
    assert trial.outcome is Outcome.OK, trial.refusal
    failure = only(FAMILIES[fault.family]).check(evaluator.subject(wrong))
    assert failure
    assert failure.refusal.sentence.startswith(f"With another {fault.family} than the workload's")


def test_every_family_stands_in_the_wide_tier_and_has_such_a_fault() -> None:
    assert {fault.family for fault in FAULTS} == set(FAMILIES)
    assert len(FAMILIES) == len(WIDE.families)
    assert set(QUICK.families) <= set(WIDE.families)
