from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.host import HostGate
from ci.model.trial import Candidate
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed
from tests.places import OPERATORS

LEAKY = load_operator(OPERATORS / "src" / "activation" / "leaky_relu_shift")
LEAKY_HOST = "op_host/leaky_relu_shift.cpp"
ELEMENTS = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
CORES = "uint32_t cores = platform.GetCoreNumAiv();"
ASKED = "context->SetBlockDim((total + perCore - 1) / perCore);"
USELESS = ASKED.replace("SetBlockDim(", f"SetBlockDim({ELEMENTS} > 1048576 ? 0 : ")
OUTPUT = 'this->Output("y")\n            .ParamType(REQUIRED)\n            '
SAME_SHAPE = "*context->GetOutputShape(0) = *context->GetInputShape(0);"


@pytest.fixture(scope="module")
def leaky() -> Evaluator:
    return Evaluator(LEAKY, load_workload(LEAKY, None), SimulatorBackend("910B4"))


def edited(leaky: Evaluator, old: str, new: str) -> Subject:
    text = LEAKY.read(LEAKY_HOST)
    assert old in text
    return leaky.subject(Candidate(files={LEAKY_HOST: text.replace(old, new, 1)}, stage="tiling"))


class TestHostGate(GateContract):
    gate = HostGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(
            changed('AddConfig("ascend910b")', 'AddConfig("ascend910_93")', HOST)
        )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param(SAME_SHAPE, f"{SAME_SHAPE} context->GetOutputShape(0)->SetDim(0, 1);",
                     "shapes [1, 512]", id="inferred shape"),
        pytest.param("SetOutputDataType(0, ge::DT_FLOAT)", "SetOutputDataType(0, ge::DT_FLOAT16)",
                     "dtypes float16", id="inferred dtype"),
        pytest.param(SAME_SHAPE, f"if (context->GetInputShape(0)->GetDimNum() > 2) {{ return "
                     f"GRAPH_FAILED; }} {SAME_SHAPE}", "shapes failed", id="inference of a rank"),
        pytest.param(SAME_SHAPE, f"{SAME_SHAPE} if (context->GetInputShape(0)->GetDimNum() == 7) "
                     "{ context->GetOutputShape(0)->SetDimNum(6); }", "in 7 dimensions",
                     id="inference of seven dimensions"),
        pytest.param("this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);", "",
                     "dtypes none and shapes none", id="inference deleted"),
        pytest.param(f"{OUTPUT}.DataType({{ge::DT_FLOAT}})",
                     f"{OUTPUT}.DataType({{ge::DT_FLOAT16}})", "outputs[0].dtypes", id="dtype"),
        pytest.param("ge::FORMAT_ND", "ge::FORMAT_NCHW", "inputs[0].formats", id="format"),
        pytest.param('.Float(0.25)', '.Float(0.5)', "attrs[0].numbers", id="default"),
        pytest.param("this->AICore().SetTiling",
                     "this->Input(\"x\").AutoContiguous(); this->AICore().SetTiling",
                     "AutoContiguous", id="a call without effect here"),
        pytest.param(" || total % kBlock != 0", "", "succeeds", id="input check removed"),
        pytest.param("total == 0 ||", "total == 0 || total > 1048576 ||", "refuses", id="narrowed"),
        pytest.param("total == 0 ||", "*context->GetAttrs()->GetFloat(0) < 0 ||", "refuses",
                     id="attribute narrowed"),
        pytest.param("total == 0 ||", "77 / (int64_t(total) - 1048576) == 1 || total == 0 ||",
                     "crashes", id="division by zero"),
        pytest.param("total == 0 ||", "total > 100000000 && [] { for (volatile int i = 1; i; ) { } "
                     "return true; }() || total == 0 ||", "crashes", id="endless"),
        pytest.param("*context->GetAttrs()->GetFloat(0)", "0.25f", "cannot know the attribute",
                     id="attribute dropped"),
        pytest.param(CORES, f"static int anchor; {CORES} cores -= "
                     "(reinterpret_cast<uintptr_t>(&anchor) >> 12) % 7 ? 0 : 30;",
                     "in another process", id="address"),
        pytest.param(CORES, f"static int calls; {CORES} if (++calls > 1) {{ return "
                     "ge::GRAPH_FAILED; }", "asked again", id="second call"),
        pytest.param(CORES, f"static uint32_t last; {CORES} cores -= last > 1000000; "
                     "last = context->GetInputShape(0)->GetStorageShape().GetShapeSize();",
                     "another order", id="order"),
        pytest.param(CORES, f"{CORES} cores -= *(new uint8_t[64]) & 16;", "in another process",
                     id="uninitialised heap"),
    ],
)  # fmt: skip
def test_what_no_launch_shows_is_refused(leaky: Evaluator, old: str, new: str, words: str) -> None:
    failure = HostGate().check(edited(leaky, old, new))
    assert failure and words in failure.refusal.sentence, failure


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ("std::string(context->GetNodeName()).size() / 40", "asked again"),
        ("(context->GetRawTilingData()->GetCapacity() >> 18)", "asked again"),
        ("context->GetDeterministic()", "in deterministic mode"),
    ],
)
def test_what_a_tiling_has_no_business_with_may_not_decide(
    leaky: Evaluator, factor: str, words: str
) -> None:
    failure = HostGate().check(edited(leaky, CORES, f"{CORES} cores -= 20 * ({factor});"))
    assert failure and words in failure.refusal.sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(SAME_SHAPE, "const gert::Shape* in = context->GetInputShape(0); "
                     "*context->GetOutputShape(0) = *in;", id="same inference in other words"),
        pytest.param(CORES, f"{CORES} cores = total < 65536 ? 8 : cores;", id="fewer cores"),
        pytest.param("kLine = 1024", "kLine = 4096", id="larger shares"),
    ],
)  # fmt: skip
def test_another_tiling_of_the_same_requests_passes(leaky: Evaluator, old: str, new: str) -> None:
    if "total <" in new:  # the cores are counted before the total is
        new = new.replace("total", ELEMENTS)
    assert HostGate().check(edited(leaky, old, new)) is None


@pytest.mark.long
def test_a_tiling_that_asked_for_no_possible_launch_may_be_put_right(tmp_path: Path) -> None:
    copy = tmp_path / LEAKY.root.name
    shutil.copytree(LEAKY.root, copy)
    right = LEAKY.read(LEAKY_HOST)
    (copy / LEAKY_HOST).write_text(right.replace(ASKED, USELESS, 1), encoding="utf-8")
    evaluator = Evaluator(
        load_operator(copy), load_workload(LEAKY, None), SimulatorBackend("910B4")
    )
    mended = evaluator.subject(Candidate(files={LEAKY_HOST: right}, stage="tiling"))
    assert HostGate().check(mended) is None


def test_a_tiling_that_asks_for_no_possible_launch_is_refused(leaky: Evaluator) -> None:
    failure = HostGate().check(edited(leaky, ASKED, USELESS))
    assert failure and "no device makes" in failure.refusal.sentence, failure
