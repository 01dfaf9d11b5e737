"""What is said of a header that a compiler does not find."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.source.discovery import load_operator
from ci.source.missing_header import advice
from tests.ci.small_operator import write_operator

SAID = "The kernel does not compile: {}: No such file or directory"


def test_a_header_that_lies_where_nothing_includes_from_is_pointed_to(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    operator = operator.model_copy(update={"repository": tmp_path})
    said = advice(operator, SAID.format("wide/arch.hpp"))
    assert "No file of the repository is called so" in said and "build: include:" in said
    (tmp_path / "third_party" / "lib" / "include" / "wide").mkdir(parents=True)
    (tmp_path / "third_party" / "lib" / "include" / "wide" / "arch.hpp").write_text("")
    said = advice(operator, SAID.format("wide/arch.hpp"))
    assert "lies in third_party/lib/include:" in said and "build: include:" in said
    assert "is called so" in advice(operator, SAID.format("other/arch.hpp"))
    assert advice(operator, "'arch' was not declared in this scope") == ""


def test_a_submodule_that_is_not_there_is_named(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    operator = operator.model_copy(update={"repository": tmp_path})
    (tmp_path / ".gitmodules").write_text(
        '[submodule "a"]\n\tpath = parts/a\n\turl = x\n[submodule "b"]\n\tpath = parts/b\n'
    )
    (tmp_path / "parts" / "a").mkdir(parents=True)
    (tmp_path / "parts" / "a" / "file").write_text("")
    (tmp_path / "parts" / "b").mkdir()
    said = advice(operator, SAID.format("wide/arch.hpp"))
    assert "(parts/b)" in said and "git submodule update --init" in said


@pytest.mark.parametrize("says", ["cmake/parts.cmake", "WORKSPACE.bazel", "deps", "README.md"])
def test_what_is_to_be_fetched_is_named_with_its_address(tmp_path: Path, says: str) -> None:
    operator = load_operator(write_operator(tmp_path))
    operator = operator.model_copy(update={"repository": tmp_path})
    parts = tmp_path / says
    parts.parent.mkdir(exist_ok=True)
    parts.write_text("FetchContent_Declare(w GIT_REPOSITORY https://example.com/widest.git)\n")
    assert "is called so" in advice(operator, SAID.format("wide/arch.hpp"))
    addresses = (
        "https://example.com/team/wide.git",
        "https://example.com/team/wide",
        "https://example.com/group/team/wide.git",
        "https://example.com/releases/wide-1.2.tar.gz",
        "git@example.com:team/wide",
    )
    for address in addresses:
        parts.write_text(f'FetchContent_Declare(w GIT_REPOSITORY "{address}" GIT_TAG 1)\n')
        said = advice(operator, SAID.format("wide/arch.hpp"))
        assert f"{says} says that it comes from {address}" in said
    for page in ("https://example.com/team/ops/wiki/wide", "https://example.com/wide", "a/b/wide"):
        parts.write_text(f"See [wide]({page}).\n")
        assert "is called so" in advice(operator, SAID.format("wide/arch.hpp")), page
    assert "is called so" in advice(operator, SAID.format("wide.hpp"))


def test_a_macro_that_a_build_gives_which_is_not_read_is_to_be_written_down(tmp_path: Path) -> None:
    operator = load_operator(write_operator(tmp_path))
    operator = operator.model_copy(update={"repository": tmp_path})
    missing = "The kernel does not compile: 'TILE_ROWS' was not declared in this scope"
    assert advice(operator, missing) == ""
    (tmp_path / "build.py").write_text('run(["bisheng", "-DTILE_ROWS_MORE=1"])\n')
    assert advice(operator, missing) == ""
    (tmp_path / "BUILD").write_text('cc_library(copts = ["-DTILE_ROWS=512"])\n')
    said = advice(operator, missing)
    assert said.startswith(" BUILD gives it") and "definitions:, as TILE_ROWS=VALUE" in said
