"""Scripts that compute right answers, run as golden functions in the sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ci.derive.script import copy_golden, find_script, write_golden
from ci.model.derived import DeriveSettings
from ci.model.errors import InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.session.derive import derive_workloads
from ci.source.discovery import load_operator
from ci.source.golden import Golden, golden_function
from tests.places import OPERATORS

BIAS_ADD = OPERATORS / "src" / "math" / "bias_add"
SCRIPT = """
import os
import numpy as np
import a_library_that_nobody_has

def generate():
    dtype = np.float16
    x = np.random.uniform(-5, 5, [4, 8]).astype(dtype)
    bias = np.random.uniform(-1, 1, [8]).astype(np.float16)
    golden = (x + bias).astype(dtype)
    os.system("mkdir -p input output")
    x.astype(dtype).tofile("./input/input_x.bin")
    bias.tofile("./input/input_bias.bin")
    golden.tofile("./output/golden.bin")

if __name__ == "__main__":
    generate()
"""


def copied(tmp_path: Path, script: str) -> Path:
    place = tmp_path / "ops" / "bias_add"
    shutil.copytree(BIAS_ADD, place)
    (place / "workload.yaml").unlink()
    (place / "examples").mkdir()
    (place / "examples" / "gen_data.py").write_text(script)
    return place


def answers(place: Path, folder: Path) -> list[np.ndarray]:
    operator = load_operator(place)
    script = find_script(operator)
    assert script is not None
    folder.mkdir(exist_ok=True)
    case = WorkloadCase(
        name="a",
        inputs=(
            TensorCase(shape=(2, 3), dtype="float32"),
            TensorCase(shape=(3,), dtype="float32"),
        ),
    )
    named = write_golden(script, folder)
    workload = Workload(operator=operator.op_type, cases=(case,), golden=named, folder=folder)
    x = np.array([[1e-3, 2, 3], [4, 5, 6]], np.float32)
    bias = np.array([1e-6, 20, 30], np.float32)
    golden = Golden(workload, operator)
    try:
        return [a for a in golden.outputs(case, [x, bias]) if isinstance(a, np.ndarray)]
    finally:
        golden.close()


@pytest.mark.parametrize("place", ["out", "ops/bias_add"])
def test_it_computes_other_shapes_and_dtypes_than_its_own(tmp_path: Path, place: str) -> None:
    """Beside the operator the script is read where it lies, elsewhere it is copied."""
    operator = copied(tmp_path, SCRIPT)
    (found,) = answers(operator, tmp_path / place)
    assert found.dtype == np.float32
    expected = np.array([[1e-3 + 1e-6, 22, 33], [4 + 1e-6, 25, 36]], np.float32)
    assert np.array_equal(found, expected)  # 1e-3 + 1e-6 is another number in float16
    assert (tmp_path / place / "gen_data.py").exists() is (place == "out")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bias = np.random.uniform(-1, 1, [8])", "bias = np.ones(1)", "does not draw all"),
        ("    golden = (", "    np.random.rand(3)\n    golden = (", "draws more inputs"),
        ("golden = (x", "golden = a_library_that_nobody_has.add(x", "NameError"),
    ],
)
def test_one_that_cannot_take_the_inputs_says_so(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in SCRIPT
    with pytest.raises(InputError, match=words):
        answers(copied(tmp_path, SCRIPT.replace(old, new)), tmp_path / "out")


def test_a_script_that_draws_nothing_or_computes_nothing_is_none(tmp_path: Path) -> None:
    assert find_script(load_operator(copied(tmp_path / "a", "x.tofile('golden.bin')"))) is None
    assert find_script(load_operator(copied(tmp_path / "b", "np.random.rand(3)"))) is None


def test_a_script_is_of_the_program_that_it_lies_with(tmp_path: Path) -> None:
    operator = load_operator(copied(tmp_path, SCRIPT))
    (own,) = tmp_path.rglob("gen_data.py")
    own.unlink()
    for name, call in (("a", "Other"), ("b", "BiasAdd"), ("c", "Third")):
        case = operator.root / "examples" / name
        (case / "src").mkdir(parents=True)
        (case / "src" / "main.cpp").write_text(f"aclnn{call}GetWorkspaceSize(x, &size, &next);\n")
        (case / "scripts").mkdir()
        (case / "scripts" / "gen_data.py").write_text(SCRIPT)
    found = find_script(operator)
    assert found is not None and found.parents[1].name == "b"
    found.unlink()
    assert find_script(operator) is None


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("script", "reference"),
    [(SCRIPT, "golden"), (SCRIPT.replace("x + bias", "x - bias"), "unmodified operator")],
)
def test_it_judges_the_derived_cases_unless_it_disagrees_with_the_operator(
    tmp_path: Path, script: str, reference: str
) -> None:
    place = copied(tmp_path, script)
    out = tmp_path / "out"
    (row,) = derive_workloads([place], DeriveSettings(out=out, cases=2))
    assert row.reference == reference and [c.dtypes for c in row.cases[2:]] == [("int32",)]
    assert (out / "bias_add" / "derived_golden.py").exists() is (reference == "golden")
    told = " ".join(row.notes)
    assert ("disagrees with the operator" in told) is (reference != "golden")


def test_a_copied_golden_brings_no_file_that_a_link_leads_to(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the user")
    given = tmp_path / "theirs" / "one"
    (given / "data").mkdir(parents=True)
    (given / "golden.py").write_text("def right(x):\n    return x\n")
    (given / "data" / "link").symlink_to(secret)
    case = WorkloadCase(name="a", inputs=())
    workload = Workload(operator="A", cases=(case,), golden="golden.py:right", folder=given)
    out = tmp_path / "out" / "one"
    out.mkdir(parents=True)
    moved = copy_golden(workload, out)
    assert golden_function(moved)[0].read_text() == (given / "golden.py").read_text()
    assert (out / "given_golden" / "data" / "link").is_symlink()
