"""A golden function becomes an operator folder that passes the judge, or nothing."""

from pathlib import Path

import pytest

from ci.create.create import create
from ci.create.operator_files import make
from ci.create.task import read_task
from ci.create.tracer import Tracer
from ci.model.created import CreateSettings
from ci.model.errors import InputError
from ci.source.discovery import load_operator
from tests.ci.create import goldens, references

pytestmark = pytest.mark.every_level

FILE = Path(goldens.__file__)

WORKLOAD = """
cases:
  - {name: rows, inputs: {x: {shape: [9, 70], dtype: float32}}}
"""


def settings(tmp_path: Path, text: str = WORKLOAD) -> CreateSettings:
    workload = tmp_path / "workload.yaml"
    workload.write_text(text)
    return CreateSettings(workload=workload, out=tmp_path / "made" / "operator")


HALVES = """
cases:
  - name: rows
    inputs: {x: {shape: [9, 515], dtype: float16}, gamma: {shape: [515], dtype: float16}}
"""


@pytest.mark.long
def test_a_created_operator_is_right_on_its_cases_and_on_others(tmp_path: Path) -> None:
    """Held against the golden in float32: in float16 numpy is further off than the kernel."""
    made = create(f"{FILE}:swish_norm", settings(tmp_path, HALVES))
    assert [c.name for c in made.cases] == ["rows", "rows_float32", "rows_bfloat16"]
    assert made.varied > 20
    folder = Path(made.folder)
    operator = load_operator(folder)
    assert operator.op_type == "SwishNorm"
    assert not operator.auto_sync
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert files == {
        *("CMakeLists.txt", "README.md", "golden.py", "workload.yaml"),
        *("op_host/swish_norm.cpp", "op_host/swish_norm_tiling.h", "op_kernel/swish_norm.cpp"),
    }


GRADIENTS = """
cases:
  - name: rows
    inputs:
      dy: {shape: [60, 130], dtype: float32}
      x: {shape: [60, 130], dtype: float32}
      gamma: {shape: [130], dtype: float32}
"""


@pytest.mark.nightly
def test_gradients_over_rows_and_over_columns_are_right_in_one_kernel(tmp_path: Path) -> None:
    """All cores meet between the phases; without that the second one reads what is not there."""
    made = create(f"{FILE}:rms_norm_grad", settings(tmp_path, GRADIENTS))
    assert made.varied > 20
    assert max(case.cores for case in made.cases) > 1
    host = (Path(made.folder) / "op_host" / "rms_norm_grad.cpp").read_text()
    assert "SetScheduleMode(1)" in host and "AlignUp(lengthA, KEPT_STEP)" in host


PAIRED = """
cases:
  - name: many_short_rows
    inputs:
      x: {shape: [3000, 32], dtype: float16}
      cos: {shape: [3000, 32], dtype: float16, range: [-1, 1]}
      sin: {shape: [3000, 32], dtype: float16, range: [-1, 1]}
"""


@pytest.mark.long
def test_halves_of_rows_are_right_in_one_copy_and_in_two(tmp_path: Path) -> None:
    """More rows in a tile than an instruction repeats; varied cases have halves of odd lengths."""
    made = create(f"{FILE}:rotary_of_whole", settings(tmp_path, PAIRED))
    us = {case.name: case.microseconds for case in made.cases}
    assert us["many_short_rows"] < us["many_short_rows_float32"]
    kernel = (Path(made.folder) / "op_kernel" / "rotary_of_whole.cpp").read_text()
    assert "loadsPairX" in kernel and "loadsPairCos" in kernel and "storesPairY" in kernel


WINDOWS = """
cases:
  - name: image
    inputs:
      x: {shape: [2, 4, 9, 11], dtype: float32}
      w: {shape: [5, 4, 3, 3], dtype: float32}
      b: {shape: [5], dtype: float32}
"""


@pytest.mark.nightly
def test_a_convolution_is_right_on_its_case_and_on_others(tmp_path: Path) -> None:
    made = create(f"{FILE}:convolved", settings(tmp_path, WINDOWS))
    assert [c.name for c in made.cases] == ["image", "image_float16", "image_bfloat16"]
    assert made.varied > 20


PLACES = """
cases:
  - name: rows
    inputs:
      table: {shape: [50, 70], dtype: float16}
      weights: {shape: [12], dtype: float16}
      order: {shape: [50], dtype: int32, range: [-50, 49]}
      places: {shape: [50], dtype: int64, range: [0, 11]}
"""


@pytest.mark.long
def test_rows_and_elements_at_places_that_inputs_hold_are_right(tmp_path: Path) -> None:
    """Varied cases have tables that are shorter than the places: these are not the operator's."""
    made = create(f"{FILE}:at_places", settings(tmp_path, PLACES))
    assert [c.name for c in made.cases] == ["rows", "rows_float32", "rows_bfloat16"]
    assert made.varied > 20
    kernel = (Path(made.folder) / "op_kernel" / "at_places.cpp").read_text()
    assert "GatherRows(inIndexedTable, tableGm[" in kernel and "GatherElements(" in kernel
    host = (Path(made.folder) / "op_host" / "at_places.cpp").read_text()
    assert "an axis that is indexed by values has more than 16777216 places" in host


@pytest.mark.long
def test_running_maxima_and_minima_are_right(tmp_path: Path) -> None:
    made = create(f"{FILE}:running_extremes", settings(tmp_path))
    assert [c.name for c in made.cases] == ["rows", "rows_float16", "rows_bfloat16"]


COLUMNS = """
cases:
  - name: rows
    inputs: {x: {shape: [5, 60, 7], dtype: float16}, bias: {shape: [60], dtype: float16}}
"""


@pytest.mark.long
def test_single_columns_are_right_both_ways(tmp_path: Path) -> None:
    made = create(f"{FILE}:turned_by_one", settings(tmp_path, COLUMNS))
    assert [c.name for c in made.cases] == ["rows", "rows_float32", "rows_bfloat16"]
    assert made.varied > 20
    kernel = (Path(made.folder) / "op_kernel" / "turned_by_one.cpp").read_text()
    assert "CopyInApart(" in kernel and "CopyOutApart(" in kernel


BEST = """
cases:
  - name: rows
    inputs:
      x: {shape: [20, 70], dtype: float16}
      ids: {shape: [9], dtype: int32, range: [-20, 19]}
"""


@pytest.mark.long
def test_the_best_of_rows_and_rows_of_what_was_computed_are_right(tmp_path: Path) -> None:
    """The columns of an output are one run, in each width of its elements."""
    made = create(f"{FILE}:best_of_rows", settings(tmp_path, BEST))
    assert [c.name for c in made.cases] == ["rows", "rows_float32", "rows_bfloat16"]
    assert made.varied > 20
    kernel = (Path(made.folder) / "op_kernel" / "best_of_rows.cpp").read_text()
    assert "GiveTurnsWide<" in kernel and "CopyOutApart(" not in kernel


MANY_PHASES = {
    "best_beams": "{scores: {shape: [3], dtype: float32}, logp: {shape: [3, 50], dtype: float32}}",
    "deviation_from_the_median": "{x: {shape: [5, 33], dtype: float16}}",
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", MANY_PHASES)
def test_operators_of_many_phases_are_right(name: str, tmp_path: Path) -> None:
    """Their tensors share queues; the second one's are tiles here and rows there."""
    text = f"cases:\n  - {{name: rows, inputs: {MANY_PHASES[name]}}}\n"
    made = create(f"{references.__file__}:{name}", settings(tmp_path, text))
    assert len(made.cases) == 3 and made.varied > 10


def test_nothing_is_left_of_what_cannot_be_made(tmp_path: Path) -> None:
    asked = settings(tmp_path)
    with pytest.raises(InputError, match="decides by a value"):
        create(f"{FILE}:decides", asked)
    assert not asked.out.exists()
    assert not list(asked.out.parent.glob("*")) if asked.out.parent.exists() else True


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    asked = settings(tmp_path)
    asked.out.mkdir(parents=True)
    with pytest.raises(InputError, match="exists already"):
        create(f"{FILE}:gelu", asked)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cases: [{inputs: {z: {shape: [4], dtype: float32}}}]", "names 'z'"),
        ("cases: [{inputs: {x: {shape: [4]}}}]", "shape and dtype"),
        ("cases: [{inputs: {x: {shape: [4], dtype: float32}}, attrs: {k: 1}}]", "no parameter"),
    ],
)
def test_a_workload_that_does_not_fit_the_golden_is_refused(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        create(f"{FILE}:gelu", settings(tmp_path, text))


def test_a_golden_takes_as_many_inputs_as_its_cases_give(tmp_path: Path) -> None:
    one = "{shape: [9, 70], dtype: float32}"
    asked = settings(tmp_path, f"cases: [{{inputs: [{one}, {one}, {one}]}}]")
    tracer = Tracer(FILE, "mean_of_all")
    try:
        assert asked.workload is not None
        task = read_task(FILE, "mean_of_all", asked.workload, tracer.parameters)
        program = make(task, tracer).program
    finally:
        tracer.close()
    assert task.inputs == ("given0", "given1", "given2")
    assert [p.name for p in task.attributes] == ["scale"]
    assert "mul(add4, (scale / 3))" in program.text()
