"""Which files of a listing belong to which operator, as those who read a checkout have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ci.session.placing import folder_of, operators_in, workload_folders
from ci.source.discovery import find_operators, operator_places
from ci.source.launch_places import FILE
from ci.source.placed import source_texts
from ci.source.workload_file import find_workload
from tests.ci.source.test_declared import pair
from tests.ci.source.test_placed import two_in_a_folder

LAUNCH = "launch:\n  kernel: csrc/fast.asc\n"


def listed(texts: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return operators_in(texts, lambda wanted: {path: texts[path] for path in wanted})


@pytest.mark.parametrize("make", [pair, two_in_a_folder])
def test_each_of_several_in_a_folder_has_the_sources_that_it_is_read_with(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    root = make(tmp_path)
    (tmp_path / ".git").mkdir(exist_ok=True)
    found = listed(source_texts(tmp_path))
    assert {tmp_path / place for place in found} == {*operator_places(tmp_path)}
    read = {one.place: one for one in find_operators(tmp_path)}
    assert len(read) == 2
    for place, sources in found.items():
        one = read[tmp_path / place]
        assert {*sources} == {one.repository_path(source) for source in one.sources}
        assert tmp_path / folder_of(place, sources) == root


def test_the_workload_of_each_of_several_is_looked_for_where_it_is_found(tmp_path: Path) -> None:
    pair(tmp_path)
    files = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()]
    for one in find_operators(tmp_path):
        place = one.place.relative_to(tmp_path).as_posix()
        found = (tmp_path / folder / FILE for folder in workload_folders(place, files))
        assert next(p for p in found if p.is_file()) == find_workload(one.place, None, tmp_path)


def test_one_without_a_kernel_of_its_own_is_not_listed(tmp_path: Path) -> None:
    root = pair(tmp_path)
    (root / "op_kernel/scale_shift_grad.cpp").unlink()
    assert [*listed(source_texts(tmp_path))] == ["math/scale_shift/scale_shift"]


def test_a_launched_kernel_at_the_top_is_made_of_what_its_workload_names(tmp_path: Path) -> None:
    pair(tmp_path)
    kernel = "__global__ __aicore__ void fast(GM_ADDR x) {}\n"
    texts = source_texts(tmp_path) | {"workload.yaml": LAUNCH, "csrc/fast.asc": kernel}
    found = listed(texts)
    assert found["."] == ("csrc/fast.asc", "workload.yaml") and len(found) == 3
    assert folder_of(".", found["."]) == ""


def test_a_source_that_is_too_large_to_be_looked_through_is_no_operator_here_either() -> None:
    """On a disk it is said; the parser would take minutes for what a stranger pushed."""
    definition = (
        "class Fast : public OpDef {\npublic:\n  Fast() { this->AICore(); }\n};\nOP_ADD(Fast);\n"
    )
    kernel = 'extern "C" __global__ __aicore__ void fast(GM_ADDR x) {}\n'
    texts = {"a/host.cpp": definition, "a/kernel.cpp": kernel}
    assert listed(texts) == {"a": ("a/host.cpp", "a/kernel.cpp")}
    texts["a/kernel.cpp"] += "// table\n" * (1 << 18)
    assert listed(texts) == {}
