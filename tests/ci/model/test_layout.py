from pathlib import Path

import pytest

from ci.model import layout
from ci.source.placed import operator_folders
from rules.triggers import load_triggers


def lay(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("")


def test_paths_and_a_work_tree_hold_the_same_operators(tmp_path: Path) -> None:
    paths = [
        f"{folder}/{side}/k.cpp"
        for folder in (
            "src/math/add",
            "math/sub",
            "src/tests/old",
            "a/b/c/d/e/f",
            "a/b/c/d/e/f/g",
            "math/sub/in",
        )
        for side in ("op_host", "op_kernel")
    ]
    lay(tmp_path, *paths, "half/op_host/k.cpp")
    found = {f.relative_to(tmp_path).as_posix() for f in operator_folders(tmp_path)}
    assert found == set(layout.operators(paths)) == {"src/math/add", "math/sub", "a/b/c/d/e/f"}


def test_a_repository_that_is_one_operator_holds_it_in_its_own_folder(tmp_path: Path) -> None:
    paths = ["op_host/k.cpp", "op_kernel/k.cpp", "in/op_host/k.cpp", "in/op_kernel/k.cpp"]
    lay(tmp_path, *paths)
    assert operator_folders(tmp_path) == [tmp_path]
    assert layout.operators(paths) == {layout.TOP: ("op_host/k.cpp", "op_kernel/k.cpp")}


def test_sources_of_an_operator_are_those_below_its_two_folders() -> None:
    paths = [
        "add/op_host/add.cc",
        "add/op_kernel/arch/add.hxx",
        "add/op_kernel/tests/try.cpp",
        "add/op_kernel/read.md",
        "add/add.cpp",
    ]
    assert layout.operators(paths) == {"add": ("add/op_host/add.cc", "add/op_kernel/arch/add.hxx")}


@pytest.mark.parametrize("ending", layout.SOURCES)
def test_a_change_to_any_kind_of_source_concerns_its_operator(ending: str) -> None:
    rules = load_triggers()
    assert rules.kind(f"src/add/op_kernel/add{ending}") == "kernel"
    assert rules.kind(f"src/add/op_host/add{ending}") == "tiling"
    assert rules.kind(f"src/common/add{ending}") == ("shared" if ending in layout.HEADERS else "")


def test_a_closure_ends_where_headers_include_each_other_or_are_too_many() -> None:
    texts = {f"{i}.h": f'#include "{(i + 1) % 9}.h"\n#include "none.h"' for i in range(9)}

    def find(_: str, spelled: str) -> list[tuple[str, str]]:
        return [(spelled, texts[spelled])] if spelled in texts else []

    start = {"k.cpp": '#include "0.h"'}
    assert set(layout.closure(start, find, 100)) == set(texts)
    assert len(layout.closure(start, find, 4)) == 4
