"""What is tried of an output that InferShape gives the shape of the first input."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.derive.case_repair import mended
from ci.derive.case_selection import Option
from ci.derive.host_queries import Taken
from ci.derive.runner import Failed
from ci.model.derived import DeriveSettings
from ci.model.trial import Outcome, Unwritten
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.session.derive import derive_workloads
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

ROW_SUM = OPERATORS / "src" / "math" / "row_sum"
SHAPE = (32, 256)
TOLD = "    y->SetDimNum(1);\n    y->SetDim(0, x->GetDim(0));\n"


def given(output: tuple[int, ...]) -> Option:
    """A case of one input of 32 rows, with an output of this shape that inference told."""
    case = WorkloadCase(
        name="rows",
        inputs=(TensorCase(shape=SHAPE, dtype="float32"),),
        outputs=(TensorCase(shape=output, dtype="float32"),),
    )
    taken = Taken(case, case, tiling_key=0, digest="", block_dim=1)
    return Option("generic shapes", taken)


def tried(output: tuple[int, ...], written: int) -> tuple[int, ...]:
    """The shape that is tried next for an output of which so many bytes were written."""
    size = 4 * output[0] * (output[1] if output[1:] else 1)
    left = Unwritten(output=0, first=written, count=size - written, size=size)
    operator = load_operator(ROW_SUM)
    cases = (given(output).taken.case,)
    frame = Workload(operator=operator.op_type, cases=cases, folder=ROW_SUM)
    found = mended(operator, frame, given(output), Failed(Outcome.MEMORY_ERROR, "-", left))
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
