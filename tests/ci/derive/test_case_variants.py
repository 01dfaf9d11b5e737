"""Cases of other sizes, from one that the repository names, with the real host side."""

from __future__ import annotations

from math import prod
from pathlib import Path

from ci.backend.sim import SimulatorBackend
from ci.derive.accepted_cases import MOST_ELEMENTS
from ci.derive.candidates import generic_case
from ci.derive.case_variants import grown
from ci.derive.host_queries import Asker, Taken
from ci.model.operator import Operator
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from tests.ci.judge.test_in_place import HOST, KERNEL

SQUARE = """
    const int64_t n = context->GetInputShape(0)->GetShapeSize();
    context->GetOutputShape(0)->SetDimNum(2);
    context->GetOutputShape(0)->SetDim(0, n);
    context->GetOutputShape(0)->SetDim(1, n);
"""


def asked(top: Path, host: str) -> tuple[Operator, Asker]:
    """The operator with a host side, and what asks it."""
    for folder, text in (("op_host", host), ("op_kernel", KERNEL)):
        (top / folder).mkdir(parents=True)
        (top / folder / "double_it.cpp").write_text(text)
    operator = load_operator(top)
    frame = Workload(operator="DoubleIt", cases=(generic_case(operator),), folder=top)
    return operator, Asker(SimulatorBackend("910B4").build(operator, {}, frame))


def sizes(top: Path, output: tuple[int, ...]) -> list[tuple[int, int]]:
    """Elements of input and output of the cases that are made of one with 8 elements."""
    infer = f"static ge::graphStatus Infer(gert::InferShapeContext* context) {{{SQUARE}"
    infer += "return ge::GRAPH_SUCCESS;}\n"
    at = "namespace ops {"
    assert at in HOST and "this->AICore()" in HOST
    text = HOST.replace(at, f"{infer}{at}").replace(
        "this->AICore()", "this->SetInferShape(Infer);\n        this->AICore()", 1
    )
    operator, asker = asked(top, text)
    case = WorkloadCase(
        name="own",
        inputs=(TensorCase(shape=(8,), dtype="float32"),),
        outputs=(TensorCase(shape=output, dtype="float32"),),
    )
    answers = asker.ask([*grown(operator, case, asker)])
    taken = [one.case for one in answers if isinstance(one, Taken)]
    return [(prod(c.inputs[0].shape), prod(c.outputs[0].shape)) for c in taken]


def test_declared_outputs_grow_as_the_host_side_infers_them(tmp_path: Path) -> None:
    made = sizes(tmp_path / "own", (8, 8))
    assert made and all(given * given == output for given, output in made)
    assert 2047 in [given for given, output in made if given + output <= MOST_ELEMENTS]
    other = sizes(tmp_path / "other", (3,))
    assert {output for _, output in other} == {3}  # it says otherwise of this very case


def test_lengths_stay_together_as_in_the_case_that_they_are_made_from(tmp_path: Path) -> None:
    more = "".join(
        f'this->Input("{name}").ParamType({kind}).DataType({{{dtype}, {dtype}}})'
        ".Format({ge::FORMAT_ND, ge::FORMAT_ND});\n        "
        for name, kind, dtype in (
            ("w", "REQUIRED", "ge::DT_FLOAT"),
            ("counts", "OPTIONAL", "ge::DT_INT32"),
        )
    )
    operator, asker = asked(tmp_path, HOST.replace("this->Output(", f"{more}this->Output(", 1))
    assert [one.name for one in operator.inputs] == ["x", "w", "counts"]
    counts = TensorCase(shape=(2,), dtype="int32", values=(3, 5))
    other = TensorCase(shape=(8, 5), dtype="float32")
    none = TensorCase(shape=(0,), dtype="int32", present=False)
    one = WorkloadCase(name="own", inputs=(TensorCase(shape=(8,), dtype="float32"), other, none))
    made = [c.inputs for c in grown(operator, one, asker)]
    assert made and all(a.shape[0] == b.shape[0] for a, b, _ in made)
    assert {b.shape[1] for _, b, _ in made} > {5}
    counted = one.model_copy(update={"inputs": (*one.inputs[:2], counts)})
    made = [c.inputs for c in grown(operator, counted, asker)]
    assert made and all(a.shape[0] == b.shape[0] == 8 for a, b, _ in made)
