"""Which varied cases an operator may not be made for."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import ci.judge.check.doubts
from ci.backend.sim import SimulatorBackend
from ci.judge.check.doubts import (
    attribute_unread,
    doubtful,
    input_guessed,
    length_unread,
    may_be_unasked,
    may_round,
    only_repeated,
    outputs_unread,
    unlaunched,
    unlike,
)
from ci.judge.compare_outputs import Compared
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched
from ci.judge.reference import Reference
from ci.model.launch import CaseRun, Tensors
from ci.model.operator import AttrSpec
from ci.model.trial import PipeTime, Refusal, Unwritten
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.testing.scale_shift import HOST, OPERATOR, WORKLOAD


def case_of(*shapes: tuple[int, ...], dtype: str = "float32") -> WorkloadCase:
    inputs = tuple(TensorCase(shape=shape, dtype=dtype) for shape in shapes)
    return WorkloadCase(name="x".join(map(str, shapes)), inputs=inputs)


@pytest.mark.parametrize(
    ("golden", "short", "doubted"),
    [(np.hypot, (1, 8), True), (np.matmul, (1, 8), False), (np.hypot, (8, 8), False)],
)
def test_inputs_that_a_golden_function_only_repeats_are_doubted(
    golden: Callable[..., Any], short: tuple[int, ...], doubted: bool
) -> None:
    own, varied = case_of((8, 8), (8, 8)), case_of(short, (8, 8))
    inputs: Tensors = [
        np.arange(1, 1 + math.prod(one), dtype=np.float32).reshape(one) for one in (short, (8, 8))
    ]
    references = SimpleNamespace(
        of=lambda case, seed: Reference(inputs, [golden(*inputs)], scale=1.0),
        supposed=lambda case, given: [golden(*given)],
    )
    workload = SimpleNamespace(cases=(own,), seeds=(1,))
    standard = cast(Standard, SimpleNamespace(workload=workload, references=references))
    assert only_repeated(standard, varied) is doubted


@pytest.mark.parametrize(
    ("golden", "own", "shapes", "doubted"),
    [
        (lambda a, b: [a + b, b * b], ((4, 4), (4, 4)), ((4, 4), (1, 4)), True),
        (lambda a, b: [b.sum(0)], ((4, 4), (4, 4)), ((4, 4), (1, 4)), False),
        (lambda a, b, c: [a @ b + c], ((4, 8), (8, 6), (6,)), ((4, 8), (8, 2), (1,)), True),
        (lambda a, b: [a[: b.size]], ((8,), (8,)), ((8,), (5,)), False),  # it repeats nothing
    ],
)
def test_what_is_repeated_may_be_an_output_or_belong_to_one_dimension(
    golden: Callable[..., Any],
    own: tuple[tuple[int, ...], ...],
    shapes: tuple[tuple[int, ...], ...],
    doubted: bool,
) -> None:
    inputs = [np.arange(1, 1 + math.prod(one), dtype=np.float32).reshape(one) for one in shapes]
    references = SimpleNamespace(
        of=lambda case, seed: Reference([*inputs], golden(*inputs), scale=1.0),
        supposed=lambda case, given: golden(*given),
    )
    workload = SimpleNamespace(cases=(case_of(*own),), seeds=(1,))
    standard = cast(Standard, SimpleNamespace(workload=workload, references=references))
    assert only_repeated(standard, case_of(*shapes)) is doubted


def test_tensors_of_lists_that_a_golden_function_only_repeats_are_doubted() -> None:
    def lists(*shapes: tuple[int, ...]) -> WorkloadCase:
        both = tuple(TensorCase(shape=shape, dtype="float32") for shape in shapes)
        return WorkloadCase(name="c", inputs=(both[:2], both[2:]))

    def golden(x: list[Any], y: list[Any]) -> list[Any]:
        return [[a + b for a, b in zip(x, y, strict=True)]]

    varied = lists((512, 1), (1,), (1, 1), (1,))
    given: list[list[Any]] = [[np.ones((512, 1)), np.ones(1)], [np.ones((1, 1)), np.ones(1)]]
    references = SimpleNamespace(
        of=lambda case, seed: Reference([*given], golden(*given), scale=1.0),
        supposed=lambda case, given: golden(*given),
    )
    workload = SimpleNamespace(cases=(lists((100, 1), (1,), (100, 1), (1,)),), seeds=(1,))
    standard = cast(Standard, SimpleNamespace(workload=workload, references=references))
    assert only_repeated(standard, varied)


@pytest.mark.parametrize(
    ("golden", "given", "doubted"),
    [
        (lambda x, n: x * 2, 0, True),
        (lambda x, n: x * 2, 8, False),
        (lambda x, n: np.where(np.arange(x.size) < n, x * 2, x), 0, False),
    ],
)
@pytest.mark.parametrize("own", [{"n": 16}, {"n": 3}])
def test_an_attribute_that_is_a_length_and_that_no_golden_function_reads_is_doubted(
    golden: Callable[..., Any], given: int, doubted: bool, own: dict[str, int]
) -> None:
    known = case_of((16,)).model_copy(update={"attrs": own})
    varied = case_of((8,)).model_copy(update={"attrs": {"n": given}})
    x = np.arange(1, 9, dtype=np.float32)

    def supposed(case: WorkloadCase, inputs: Tensors) -> Tensors:
        return [golden(*inputs, **case.attrs)]

    references = SimpleNamespace(
        of=lambda case, seed: Reference([x], supposed(case, [x]), scale=8.0), supposed=supposed
    )
    workload = SimpleNamespace(cases=(known,), seeds=(1,))
    standard = cast(Standard, SimpleNamespace(workload=workload, references=references))
    assert length_unread(standard, varied) is (doubted and own["n"] == 16)


@pytest.mark.parametrize(
    ("family", "dtype", "doubted"),
    [
        ("range", "int32", True),
        ("range", "float32", False),
        ("integer that no float holds", "int32", True),
        ("magnitude", "int32", False),
        ("empty input", "float32", True),
    ],
)
def test_integers_of_other_ranges_and_empty_inputs_are_unlike_the_own_cases(
    family: str, dtype: str, doubted: bool
) -> None:
    case = case_of((8,), dtype=dtype)
    assert unlike([case], family, case) is doubted


@pytest.mark.parametrize(
    ("golden", "value", "doubted"),
    [
        (lambda x, **_: x.sum(0), -1, True),
        (lambda x, axis=0: x.sum(axis), -1, False),
        (lambda x, **_: x.sum(0), 0, False),  # that of the own case
    ],
)
def test_a_varied_attribute_that_no_golden_function_reads_is_doubted(
    golden: Callable[..., Any], value: int, doubted: bool
) -> None:
    known = case_of((8, 8))
    varied = known.model_copy(update={"attrs": {"axis": value}})
    x = np.arange(64, dtype=np.float32).reshape(8, 8)

    def supposed(case: WorkloadCase, inputs: Tensors) -> Tensors:
        return [golden(*inputs, **case.attrs)]

    references = SimpleNamespace(
        of=lambda case, seed: Reference([x], supposed(case, [x]), scale=64.0), supposed=supposed
    )
    workload = SimpleNamespace(cases=(known,), seeds=(1,))
    operator = SimpleNamespace(attrs=(AttrSpec(name="axis", type="int", default=0),))
    standard = cast(
        Standard, SimpleNamespace(workload=workload, references=references, operator=operator)
    )
    assert attribute_unread(standard, varied) is doubted


@pytest.mark.parametrize(
    ("family", "lengths", "never"),
    [("empty input", (0, 0), True), ("empty input", (0, 1), False), ("", (0,), False)],
)
def test_made_up_cases_without_elements_of_output_are_never_launched(
    family: str, lengths: tuple[int, ...], never: bool
) -> None:
    outputs: Tensors = [np.zeros(length, np.float32) for length in lengths]
    references = SimpleNamespace(of=lambda case, seed: Reference([], outputs, scale=1.0))
    workload = SimpleNamespace(golden="golden.py:small", seeds=(1,))
    standard = cast(Standard, SimpleNamespace(workload=workload, references=references))
    assert unlaunched(standard, family, case_of((0,))) is never


def test_inputs_that_differ_are_doubted_where_an_optional_one_is_left_out() -> None:
    own, apart = case_of((2, 3, 4), (2, 3, 4), (2, 4)), case_of((2, 3, 4), (10, 3, 4), (2, 4))
    absent = apart.inputs[2].model_copy(update={"present": False})
    left_out = apart.model_copy(update={"inputs": (*apart.inputs[:2], absent)})
    assert unlike([own], "regime", left_out)


@pytest.mark.parametrize(
    ("lengths", "doubted"),
    [((64,), False), ((1,), False), ((2,), True), ((64, 64), False)],
)
def test_a_single_element_that_becomes_as_many_as_no_other_input_has_is_doubted(
    lengths: tuple[int, ...], doubted: bool
) -> None:
    own = case_of((32, 1024), (1,))
    assert unlike([own], "length", case_of((32, 64), lengths)) is doubted


def test_without_a_golden_function_declared_outputs_say_whether_a_case_is_launched() -> None:
    standard = cast(Standard, SimpleNamespace(workload=SimpleNamespace(golden="")))
    for rows in (0, 1):
        outputs = (TensorCase(shape=(rows, 8), dtype="float32"),)
        case = case_of((8,)).model_copy(update={"outputs": outputs})
        assert unlaunched(standard, "attribute", case) is (rows == 0)


@pytest.mark.parametrize(
    ("rows", "summed", "error", "kind", "may"),
    [
        (800, True, 90.0, np.float32, True),
        (800, True, 110.0, np.float32, False),
        (800, True, 90.0, np.float16, False),  # whoever sums in half rounds too early
        (800, False, 2.0, np.float32, False),
        (8, True, 2.0, np.float32, False),  # a sum of a length that the workload has
    ],
)
def test_longer_sums_in_float_may_be_off_by_as_much_more_as_they_are_longer(
    rows: int, summed: bool, error: float, kind: type, may: bool
) -> None:
    def launched(rows: int) -> Launched:
        outputs = [np.zeros((1 if summed else rows, 256), kind)]
        pipes = PipeTime(total_cycles=1, block_dim=1, busy_cycles={})
        run = CaseRun(outputs, samples_us=(1.0,), pipes=pipes, tiling_key=0)
        return Launched(case_of((rows, 256)), run, Compared(1, error, "wrong"), b"")

    assert may_round([launched(8)], launched(rows)) is may


@pytest.mark.parametrize(
    ("count", "bias", "golden", "outputs", "unasked"),
    [
        (128, False, "", 2, True),
        (128, True, "", 2, False),  # as in the own case
        (96, False, "", 2, False),  # something is written
        (128, False, "golden.py:x", 2, False),
        (128, False, "", 1, False),  # it would do nothing at all
    ],
)
def test_one_of_several_outputs_may_not_be_asked_for_where_an_attribute_is_another(
    count: int, bias: bool, golden: str, outputs: int, unasked: bool
) -> None:
    spec = AttrSpec.model_validate({"name": "bias", "type": "bool", "default": True})
    changed = {"attrs": (spec,), "outputs": OPERATOR.outputs[:1] * outputs}
    own = case_of((4, 8))
    workload = Workload(operator="X", cases=(own,), folder=Path(), golden=golden)
    standard = cast(
        Standard,
        SimpleNamespace(operator=OPERATOR.model_copy(update=changed), workload=workload),
    )
    left = Unwritten(output=1, first=0, count=count, size=128)
    refusal = Refusal(sentence="It leaves bytes.", unwritten=left)
    case = own.model_copy(update={"attrs": {"bias": bias}})
    assert may_be_unasked(standard, case, refusal) is unasked


@pytest.mark.parametrize(
    ("shape", "size", "told", "doubted"),
    [
        ((2, 6), (6, 3), False, False),
        ((2, 6), (6, 5), False, True),
        ((2, 6), (6, 5), True, False),
        ((2, 9), (9, 3), False, False),
    ],
)
def test_another_attribute_is_doubted_whatever_is_varied_unless_it_follows_a_length(
    shape: tuple[int, ...],
    size: tuple[int, ...],
    told: bool,
    doubted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def given(lengths: tuple[int, ...], size: tuple[int, ...]) -> WorkloadCase:
        return case_of(lengths).model_copy(update={"attrs": {"size": size}})

    monkeypatch.setattr(ci.judge.check.doubts, "as_inferred", lambda *_: True if told else None)
    workload = SimpleNamespace(golden="", cases=(given((2, 6), (6, 3)),))
    operator = SimpleNamespace(
        attrs=(AttrSpec(name="size", type="list_int"),), inputs=OPERATOR.inputs
    )
    standard = cast(Standard, SimpleNamespace(workload=workload, operator=operator))
    assert doubtful(standard, "regime", given(shape, size)) is doubted


@pytest.mark.parametrize(("count", "doubted"), [(48, False), (1, True)])
def test_an_attribute_that_no_longer_says_how_long_an_input_is_is_doubted(
    count: int, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(length: int, count: int) -> WorkloadCase:
        return case_of((length,)).model_copy(update={"attrs": {"n": count}})

    monkeypatch.setattr(ci.judge.check.doubts, "as_inferred", lambda *_: True)
    workload = SimpleNamespace(golden="", cases=(given(64, 64),))
    operator = SimpleNamespace(attrs=(AttrSpec(name="n", type="int"),), inputs=OPERATOR.inputs)
    standard = cast(Standard, SimpleNamespace(workload=workload, operator=operator))
    assert doubtful(standard, "regime", given(48, count)) is doubted


@pytest.mark.parametrize(
    ("value", "dtype", "read", "doubted"),
    [(-1, "int32", False, True), (0, "int32", False, False)]
    + [(-1, "int32", True, False), (-1, "float32", False, False)],
)
def test_given_integers_of_no_own_case_are_doubted_unless_the_host_side_reads_them(
    value: int, dtype: str, read: bool, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(value: int) -> WorkloadCase:
        one = case_of((8,), dtype=dtype)
        held = one.inputs[0].model_copy(update={"values": (value,)})
        return one.model_copy(update={"inputs": (held,)})

    monkeypatch.setattr(ci.judge.check.doubts, "as_inferred", lambda *_: True)
    workload = SimpleNamespace(golden="", cases=(given(0),))
    spec = OPERATOR.inputs[0].model_copy(update={"value_depend": read})
    operator = SimpleNamespace(attrs=(), inputs=(spec,))
    standard = cast(Standard, SimpleNamespace(workload=workload, operator=operator))
    assert doubtful(standard, "given value", given(value)) is doubted


@pytest.mark.parametrize(
    ("values", "rows", "doubted"),
    [((5,), 10, False), ((5,), 3, True), ((4, 6), 3, True), ((3, 10), 7, True), ((7, 7), 3, False)],
)
def test_rows_that_given_counts_no_longer_add_up_to_are_doubted(
    values: tuple[int, ...], rows: int, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(rows: int) -> WorkloadCase:
        counts = TensorCase(shape=(2,), dtype="int32", values=values)
        one = case_of((rows, 3))
        return one.model_copy(update={"inputs": (*one.inputs, counts)})

    monkeypatch.setattr(ci.judge.check.doubts, "as_inferred", lambda *_: True)
    workload = SimpleNamespace(golden="", cases=(given(10),))
    operator = SimpleNamespace(attrs=(), inputs=(OPERATOR.inputs[0],) * 2)
    standard = cast(Standard, SimpleNamespace(workload=workload, operator=operator))
    assert doubtful(standard, "length", given(rows)) is doubted


@pytest.mark.parametrize(("shape", "unread"), [("GetInputShape", True), ("GetOutputShape", False)])
def test_a_host_side_that_reads_the_length_of_an_output_is_known(shape: str, unread: bool) -> None:
    host = OPERATOR.read(HOST)
    assert "context->GetInputShape(0)" in host
    files = {HOST: host.replace("context->GetInputShape(0)", f"context->{shape}(0)")}
    build = SimulatorBackend("910B4").build(OPERATOR, files, WORKLOAD)
    references = SimpleNamespace(unmodified=build)
    standard = SimpleNamespace(workload=WORKLOAD, operator=OPERATOR, references=references)
    assert outputs_unread(cast(Standard, standard), WORKLOAD.cases[0]) is unread


def test_the_shape_of_an_input_that_the_workload_leaves_out_without_one_is_guessed() -> None:
    own = case_of((2, 3), (0,))
    absent = own.inputs[1].model_copy(update={"present": False})
    own = own.model_copy(update={"inputs": (own.inputs[0], absent)})
    standard = cast(Standard, SimpleNamespace(workload=SimpleNamespace(cases=(own,))))
    assert input_guessed(standard, case_of((2, 3), (3,)))
    assert not input_guessed(standard, own)
    assert not input_guessed(standard, case_of((5, 3), (0,)))
