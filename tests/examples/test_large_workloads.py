"""The large workloads: read like any other, as large as they say, with the small ones' references.

Nothing is simulated here, and no reference is computed: both take seconds an operator.
"""

import importlib.util
from functools import cache
from math import prod
from pathlib import Path
from types import ModuleType

import pytest

from ci.model.dtypes import find_dtype
from ci.model.workload import Tolerance
from ci.model.yaml_model import YamlFile
from ci.source.workload_file import MOST_BYTES
from ci.source.workload_model import GivenCase, GivenTensor, GivenWorkload
from tests.places import EXAMPLES

SMALL = EXAMPLES / "workloads"
LARGE = SMALL / "large"
FILES = sorted(LARGE.glob("*/workload.yaml"))
MOST_OUTLIERS = 1e-5
"""Share of integers that a rounding boundary may move: none of a small case, a few of a million."""

LEAST_BYTES = 1_000_000
"""Of inputs and declared outputs of a case that counts as large."""

BLOCK = 16
"""Halves in a block of 32 bytes; longer axes that are no multiple of it leave a tail."""


@cache
def read(file: Path) -> GivenWorkload:
    return YamlFile.open(file, most_bytes=MOST_BYTES).read(GivenWorkload)


def tensors(case: GivenCase) -> list[GivenTensor]:
    """Inputs and declared outputs, lists laid flat, without those that are left out."""
    found: list[GivenTensor] = []
    for given in (case.inputs, case.outputs):
        entries = given.values() if isinstance(given, dict) else given or ()
        for entry in entries:
            found += entry if isinstance(entry, tuple) else [entry] if entry else []
    return [one for one in found if one.present]


def size(tensor: GivenTensor) -> int:
    """In bytes."""
    dtype = find_dtype(tensor.dtype or "")
    assert dtype is not None
    return prod(tensor.full_shape) * dtype.bits // 8


def odd(tensor: GivenTensor) -> bool:
    return any(axis > BLOCK and axis % BLOCK for axis in tensor.full_shape)


def reference(file: Path) -> tuple[Path, str]:
    """File and function of the golden that a workload names."""
    path, _, name = read(file).golden.rpartition(":")
    return (file.parent / path).resolve(), name


def without_rare(tolerances: dict[str, Tolerance]) -> dict[str, Tolerance]:
    """Those that still say something when the outliers that only a large case has are left out."""
    plain = Tolerance()
    kept = {
        dtype: one.model_copy(update={"outliers": 0.0}) if one.outliers <= MOST_OUTLIERS else one
        for dtype, one in tolerances.items()
    }
    return {dtype: one for dtype, one in kept.items() if one != plain}


@cache
def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"reference_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_it_has_two_cases_of_a_megabyte_and_one_that_divides_into_no_blocks(file: Path) -> None:
    cases = read(file).cases
    assert len({case.name for case in cases}) == len(cases)
    large = [case for case in cases if sum(map(size, tensors(case))) >= LEAST_BYTES]
    assert len(large) >= 2
    assert any(odd(tensor) for case in large for tensor in tensors(case))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_it_is_judged_as_the_small_one_of_its_operator(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = SMALL / file.parent.name / "workload.yaml"
    ours, theirs = read(file), read(small)
    assert ours.operator == theirs.operator
    assert reference(file) == reference(small)
    for judged in ("auto_sync", "in_place", "initial", "over_read", "seeds"):
        assert getattr(ours, judged) == getattr(theirs, judged), judged
    assert without_rare(ours.tolerances) == without_rare(theirs.tolerances)
    path, name = reference(file)
    monkeypatch.syspath_prepend(str(path.parent))  # foreach.py imports elementwise.py
    assert callable(getattr(module(path), name))


def test_references_stand_among_the_small_ones_only() -> None:
    assert not list(LARGE.rglob("*.py"))


def test_the_readme_lists_exactly_the_operators_here() -> None:
    text = (SMALL / "README.md").read_text(encoding="utf-8")
    table = text.split("## Large")[1].split("Where a large workload")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    listed = [name.strip() for row in rows for name in row.split(",")]
    assert sorted(listed) == [file.parent.name for file in FILES]
