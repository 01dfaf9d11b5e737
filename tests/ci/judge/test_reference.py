"""The right answers come rounded, and exact where the golden function can tell them in float64."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.reference import HALF_ULP, VARIED_BYTES, References
from ci.model.errors import CaseTooLarge, InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.scale_shift import OPERATOR
from tests.places import OPERATORS

CASE = WorkloadCase(name="c", inputs=(TensorCase(shape=(64,), dtype="float32"),))


def references(folder: Path, golden: str) -> References:
    (folder / "golden.py").write_text(f"import numpy as np\n\ndef f(x):\n    {golden}\n")
    workload = Workload(operator="Op", cases=(CASE,), golden="golden.py:f", folder=folder)
    return References(OPERATOR, workload, SimulatorBackend("910B4"))


def test_the_exact_answer_is_that_of_float64_inputs(tmp_path: Path) -> None:
    asked = references(tmp_path, "return x / 3")
    found = asked.of(CASE, 1)
    (rounded,), (exact,) = found.outputs, asked.exact(CASE, 1)
    assert isinstance(rounded, np.ndarray) and isinstance(exact, np.ndarray)
    assert (rounded.dtype, exact.dtype) == (np.float32, np.float64)
    assert 0 < np.abs(exact - rounded).max() < 1e-7
    assert 0.9 < found.scale <= 1


@pytest.mark.parametrize(
    "golden",
    [
        "assert x.dtype == np.float32; return x",
        "return x * (2 if x.dtype == np.float64 else 1)",
    ],
)
def test_a_golden_that_does_something_else_for_float64_is_taken_as_it_is(
    tmp_path: Path, golden: str
) -> None:
    (exact,) = references(tmp_path, golden).exact(CASE, 1)
    assert isinstance(exact, np.ndarray) and exact.dtype == np.float32


def test_moved_inputs_tell_how_well_conditioned_each_output_is(tmp_path: Path) -> None:
    one = references(tmp_path, "return x * x")
    (moved,) = one.swayed(CASE, 1)
    (right,), (there,) = one.exact(CASE, 1), moved
    assert isinstance(right, np.ndarray) and isinstance(there, np.ndarray)
    np.testing.assert_allclose(np.abs(there - right) / right, 2 * HALF_ULP, rtol=1e-6)


def test_a_golden_without_float64_tells_nothing_of_it(tmp_path: Path) -> None:
    assert references(tmp_path, "assert x.dtype == np.float32; return x").swayed(CASE, 1) == []


def test_without_a_golden_outputs_are_as_long_as_the_host_side_infers() -> None:
    operator = load_operator(OPERATORS / "src" / "reduce" / "row_mean")
    own = load_workload(operator)
    cases = tuple(case.model_copy(update={"outputs": ()}) for case in own.cases)
    workload = own.model_copy(update={"golden": "", "cases": cases})
    asked = References(operator, workload, SimulatorBackend("910B4"))
    (found,), (right,) = (
        asked.of(cases[0], 1).outputs,
        References(operator, own, SimulatorBackend("910B4")).of(own.cases[0], 1).outputs,
    )
    assert isinstance(found, np.ndarray) and isinstance(right, np.ndarray)
    assert found.shape == right.shape != asked.of(cases[0], 1).inputs[0].shape


def test_outputs_that_would_fill_the_memory_are_not_taken_from_the_host_side(
    tmp_path: Path,
) -> None:
    shutil.copytree(OPERATORS / "src" / "reduce" / "row_mean", tmp_path / "row_mean")
    host = tmp_path / "row_mean" / "op_host" / "row_mean.cpp"
    rank = "context->GetOutputShape(0)->SetDimNum(context->GetInputShape(0)->GetDimNum() - 1);"
    text = host.read_text()
    assert rank in text
    host.write_text(text.replace(rank, rank + "context->GetOutputShape(0)->SetDim(0, 1L << 40);"))
    operator = load_operator(tmp_path / "row_mean")
    own = load_workload(operator)
    case = own.cases[0].model_copy(update={"outputs": ()})
    workload = own.model_copy(update={"golden": "", "cases": (case,)})
    with pytest.raises(CaseTooLarge, match=r"asks for outputs of \(1099511627776,\)"):
        References(operator, workload, SimulatorBackend("910B4")).of(case, 1)


def test_a_case_that_was_made_up_may_not_give_as_much_as_one_that_was_asked_for(
    tmp_path: Path,
) -> None:
    one = references(tmp_path, f"return np.zeros({VARIED_BYTES // 4 + 1}, np.float32)")
    assert one.of(CASE, 1).outputs
    with pytest.raises(InputError, match="returned more than 128 MiB"):
        one.of(CASE.model_copy(update={"name": "varied"}), 1)
