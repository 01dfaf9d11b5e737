"""What is tried of an output that InferShape gives the shape of the first input."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ci.derive.case_repair import is_its_own, mended
from ci.derive.case_selection import Option
from ci.derive.host_queries import Taken
from ci.derive.runner import Failed
from ci.model.derived import DeriveSettings
from ci.model.trial import Outcome, Unwritten
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase
from ci.session.derive import derive_workloads
from ci.simulator.launch import ASSERTED, TRAPPED
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

ROW_SUM = OPERATORS / "src" / "math" / "row_sum"
SHAPE = (32, 256)
TOLD = "    y->SetDimNum(1);\n    y->SetDim(0, x->GetDim(0));\n"


def tensor(shape: tuple[int, ...]) -> TensorCase:
    return TensorCase(shape=shape, dtype="float32")


def given(output: Entry, *inputs: Entry) -> Option:
    """A case with an output that inference told, of one input of 32 rows or of these."""
    case = WorkloadCase(name="rows", inputs=inputs or (tensor(SHAPE),), outputs=(output,))
    taken = Taken(case, case, tiling_key=0, digest="", block_dim=1)
    return Option("generic shapes", taken)


def tried(output: tuple[int, ...], written: int) -> tuple[int, ...]:
    """The shape that is tried next for an output of which so many bytes were written."""
    size = 4 * output[0] * (output[1] if output[1:] else 1)
    left = Unwritten(output=0, first=written, count=size - written, size=size)
    operator = load_operator(ROW_SUM)
    option = given(tensor(output))
    frame = Workload(operator=operator.op_type, cases=(option.taken.case,), folder=ROW_SUM)
    found = mended(operator, frame, option, Failed(Outcome.MEMORY_ERROR, "-", left))
    assert found is not None
    entry = found[1].taken.case.outputs[0]
    assert isinstance(entry, TensorCase)
    said = "leaves bytes of y unwritten" if entry.shape == output else "InferShape gives y the"
    assert said in found[2]
    return entry.shape


@pytest.mark.parametrize(("written", "shape"), [(4, (1,)), (4 * 32, (32, 1)), (4 * 256, (256,))])
def test_what_is_written_of_it_is_a_result_of_a_likely_shape(
    written: int, shape: tuple[int, ...]
) -> None:
    assert tried(SHAPE, written) == shape


@pytest.mark.parametrize("written", [4 * 33, 4 * 8160, 6])
def test_any_other_end_of_it_stays_a_defect(written: int) -> None:
    """As a tail that a kernel forgets."""
    assert tried(SHAPE, written) == SHAPE


def test_an_output_of_another_shape_is_as_inference_says() -> None:
    assert tried((64, 256), 4 * 32) == (64, 256)


PAST = "copy_ubuf_to_gm writes global memory out of bounds: from byte 0 of output 0{} on it takes."


def mended_past(option: Option, place: str = "") -> Entry | None:
    """The output that is tried after a write past the end of the first one; None: none."""
    operator = load_operator(ROW_SUM)
    frame = Workload(operator=operator.op_type, cases=(option.taken.case,), folder=ROW_SUM)
    found = mended(operator, frame, option, Failed(Outcome.MEMORY_ERROR, PAST.format(place)))
    return None if found is None else found[1].taken.case.outputs[0]


def test_an_output_that_is_too_short_is_as_long_as_the_next_longer_input() -> None:
    inputs = tensor((1,)), tensor((4, 8)), tensor((2, 3))
    assert mended_past(given(tensor((1,)), *inputs)) == tensor((2, 3))
    assert mended_past(given(tensor((2, 3)), *inputs)) is None, "it is not as the first input"
    assert mended_past(given(tensor((1,)), tensor((1,)))) is None, "no input is longer"


def test_a_list_that_is_too_short_is_as_the_next_longer_list() -> None:
    many = (tensor((4, 8)), tensor((2,)))
    assert mended_past(given((tensor((1,)),), tensor((1,)), many), "[0]") == many


MEET = "Core 0 writes and core 1 writes the same global memory"
LEFT = Unwritten(output=0, first=0, count=4, size=8)
PAST_INPUT = PAST.format("").replace("writes", "reads").replace("output", "input")


@pytest.mark.parametrize(
    ("found", "dtype", "own"),
    [
        (Failed(Outcome.MEMORY_ERROR, PAST_INPUT), "float32", True),
        (Failed(Outcome.MEMORY_ERROR, PAST_INPUT), "int32", False),
        (Failed(Outcome.RACE, "two pipes"), "float32", True),
        (Failed(Outcome.RACE, "two pipes"), "int32", True),
        (Failed(Outcome.RACE, MEET), "int32", False),
        (Failed(Outcome.RACE, MEET), "float32", True),
        (Failed(Outcome.MEMORY_ERROR, PAST.format("")), "float32", False),
        (Failed(Outcome.MEMORY_ERROR, "-", LEFT), "float32", False),
        (Failed(Outcome.LAUNCH_ERROR, TRAPPED), "float32", False),
        (Failed(Outcome.LAUNCH_ERROR, f"{ASSERTED}n == 1` fails."), "float32", False),
        (Failed(Outcome.WRONG_RESULT, "-"), "float32", False),
    ],
)
def test_a_failure_that_the_case_may_have_made_is_not_the_operators_own(
    found: Failed, dtype: str, own: bool
) -> None:
    drawn = TensorCase(shape=SHAPE, dtype=dtype)
    asked = replace(given(tensor(SHAPE), drawn), asked_for=True)
    operator = load_operator(ROW_SUM)
    assert is_its_own(operator, asked, found) == own
    if found.outcome is Outcome.RACE:
        unread = operator.model_copy(update={"auto_sync_open": True})
        assert not is_its_own(unread, asked, found)
    else:
        assert not is_its_own(operator, replace(asked, asked_for=False), found)


@pytest.mark.long
def test_an_operator_whose_host_side_copies_the_shape_gets_a_workload_that_says_so(
    tmp_path: Path,
) -> None:
    place = tmp_path / "ops" / "math" / "row_sum"
    shutil.copytree(ROW_SUM, place)
    (place / "workload.yaml").unlink()
    host = place / "op_host" / "row_sum.cpp"
    text = host.read_text()
    assert TOLD in text
    host.write_text(text.replace(TOLD, "    *y = *x;\n"))
    (row,) = derive_workloads([tmp_path / "ops"], DeriveSettings(out=tmp_path / "out"))
    assert any("InferShape gives" in note for note in row.notes), row
    workload = load_workload(load_operator(place), tmp_path / "out" / "row_sum" / "workload.yaml")
    for case in workload.cases:
        (rows,), (output,) = case.inputs, case.outputs
        assert isinstance(rows, TensorCase) and isinstance(output, TensorCase)
        assert output.shape in ((rows.shape[0],), (*rows.shape[:-1], 1))
