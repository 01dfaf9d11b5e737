"""The host side answers requests that nobody launches, whatever its code does with them."""

from functools import partial
from pathlib import Path

import pytest

from ci.host import host_room
from ci.host.host_tiling import HostProgram
from ci.host.survey import MOST_QUESTIONS, HostAnswer, Question, questions
from ci.host.tiling_request import HostRequest, host_request, platform_facts
from ci.model.operator import Operator
from ci.model.workload import TensorCase, WorkloadCase
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from ci.system.sandbox import Level, run, works
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.small_operator import DEFINITION, TILING, write_operator

FACTS = platform_facts(load_device("910B4"))
DOORS = """
    if (total == 1) { __builtin_trap(); }
    while (total == 2) { }
    if (total == 3) { throw std::runtime_error("three"); }
    if (total == 4) { _exit(0); }
    if (total == 5) { for (volatile char* p = (char*)context; ; p++) { *p = 1; } }
"""
TOTAL = "const uint32_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();"


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    host = "#include <stdexcept>\n#include <unistd.h>\n" + TILING.replace(TOTAL, TOTAL + DOORS)
    return load_operator(
        write_operator(tmp_path_factory.mktemp("operator"), host=host + DEFINITION)
    )


@pytest.fixture(scope="module")
def program(operator: Operator) -> HostProgram:
    toolchain = Toolchain(load_architecture("dav-c220"))
    return HostProgram(toolchain.compile_host(operator, operator.texts()))


def request(operator: Operator, elements: int, **attrs: str) -> HostRequest:
    case = WorkloadCase(
        name="c",
        inputs=(
            TensorCase(shape=(elements,), dtype="float32"),
            TensorCase(shape=(1,), dtype="uint8", present=False),
            (TensorCase(shape=(4,), dtype="float32"), TensorCase(shape=(5,), dtype="float32")),
        ),
        outputs=(TensorCase(shape=(elements,), dtype="float32"),),
        attrs={"scale": 2.0, **attrs},
    )
    return host_request(operator, case, FACTS)


def asked(program: HostProgram, operator: Operator, *elements: int) -> list[HostAnswer]:
    every = [Question(f"{n}", request(operator, n)) for n in elements]
    return program.survey(every, 1)


def test_a_crash_an_exception_and_a_loop_end_only_their_own_question(
    program: HostProgram, operator: Operator
) -> None:
    fine, trap, loop, thrown, wild, last = asked(program, operator, 100, 1, 2, 3, 5, 1000)
    for answer in (fine, last):
        assert answer.steady and answer.tiling and answer.tiling.status == "ok"
    assert trap.tiling is loop.tiling is wild.tiling is None
    assert trap.inference is not None and trap.inference.shapes == "none"
    assert thrown.tiling and thrown.tiling.status == "threw"


def test_an_inference_that_sets_nothing_tells_no_shape_and_one_that_sets_a_scalar_does(
    tmp_path: Path,
) -> None:
    infer = """namespace ge {
static graphStatus Infer(gert::InferShapeContext* context) {
    const int64_t length = context->GetInputShape(0)->GetDim(0);
    gert::Shape* y = context->GetOutputShape(0);
    if (length == 7) y->SetScalar();
    if (length == 9) y->SetDimNum(1);
    return y->GetDim(0) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}
}  // namespace ge
"""
    named = "this->AICore()"
    definition = DEFINITION.replace(named, f"this->SetInferShape(ge::Infer); {named}", 1)
    one = load_operator(write_operator(tmp_path, host=TILING + infer + definition))
    program = HostProgram(Toolchain(load_architecture("dav-c220")).compile_host(one, one.texts()))
    cases = [
        WorkloadCase(
            name="c",
            inputs=(
                TensorCase(shape=(length,), dtype="float32"),
                TensorCase(shape=(1,), dtype="uint8", present=False),
                (TensorCase(shape=(4,), dtype="float32"),),
            ),
            attrs={"scale": 2.0},
        )
        for length in (7, 8, 9)
    ]
    every = [Question(case.name, host_request(one, case, FACTS)) for case in cases]
    told = [answer.inference.shapes for answer in program.survey(every, 1) if answer.inference]
    assert told == ["ok", "none", "ok"]


def test_a_program_that_ends_leaves_the_rest_unanswered(
    program: HostProgram, operator: Operator
) -> None:
    first, *rest = asked(program, operator, 100, 4, 1000)
    assert first.tiling is not None
    assert [answer.tiling for answer in rest] == [None, None]


@pytest.mark.long
def test_requests_that_take_longer_to_read_than_a_step_may_are_all_answered(
    program: HostProgram, operator: Operator
) -> None:
    long = request(operator, 100, mode="x" * (1 << 20))
    answers = program.survey([Question(f"{n}", long) for n in range(40)], 1)
    assert all(a.steady and a.tiling and a.tiling.status == "ok" for a in answers)


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "limits"])
def test_it_is_answered_at_every_level_of_the_sandbox(
    program: HostProgram, operator: Operator, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not works(level):
        pytest.skip(f"{level} does not work here")
    monkeypatch.setattr(host_room, "run", partial(run, level=level))
    (trap, fine) = asked(program, operator, 1, 100)
    assert trap.tiling is None and fine.tiling is not None


def test_questions_cover_what_a_framework_may_ask(operator: Operator) -> None:
    others = [platform_facts(load_device("910B1"))]
    found = questions(operator, [("c", request(operator, 100))], others)
    labels = {q.label for q in found}
    assert found[0].label == "c"
    assert {
        "c on the Ascend910B1",
        "c without input x",
        "c with one dimension more of input x",
        "c with one dimension less of input weights",
        "c with length 0 in dimension 0 of input x",
        "c with length 101 in dimension 0 of input x",
        "c with dtype int8 of input x",
        "c with format NCHW of input x",
        "c with scale = '-1'",
        "c with no scale",
        "c with mode = ''",
        "c with axes = '-1,0'",
        "c with 1000 for 100",
    } <= labels
    unknown = next(q for q in found if q.label == "c with unknown rank of input x")
    assert not unknown.runs
    assert len({q.request.text for q in found}) == len(found)


def test_many_cases_are_cut_at_a_bound(operator: Operator, tmp_path: Path) -> None:
    cases = [(str(n), request(operator, n)) for n in range(100, 150)]
    found = questions(operator, cases, [])
    assert len(found) == pytest.approx(MOST_QUESTIONS, abs=len(cases))
    assert [q.label for q in found[: len(cases)]] == [label for label, _ in cases]
