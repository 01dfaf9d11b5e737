"""What Makefiles and shell scripts say of how a kernel is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.source.build.evaluation import tree_of
from ci.source.build.facts import read_build
from ci.source.build.scripts import Compilation, compilations
from ci.source.discovery import load_operator
from ci.system.sandbox import sandbox_level
from tests.ci.small_operator import DEFINITION, KERNEL, TILING
from tests.ci.system.levels import needs_hidden_files

MAKEFILE = """
CCE ?= $(ASCEND_HOME_PATH)/bin/bisheng
FLAGS = -DROWS=$(shell echo 7) -I parts --cce-auto-sync=off -O2
all: build/scale_mask.o missing
build/%.o: op_kernel/%.cpp
\t@mkdir -p build
\t$(CCE) $(FLAGS) -c $< -o $@ && test -f $@
missing: nowhere.cpp
"""
SCRIPT = """#!/bin/bash
set -eu
source /opt/toolkit/set_env.sh
HERE=$(cd "$(dirname "$0")" && pwd)
declare -A rows=([scale_mask]=7)
compile() { "$HOME/toolkit/bin/ccec" "$@" > log.txt 2>&1; }
mkdir -p build && cd build
for file in "$HERE"/op_kernel/*.cpp; do
  name=$(basename "$file" .cpp)
  compile -x cce "-DROWS=${rows[$name]}" -I "$HERE/parts" --cce-auto-sync=off -c "$file" -o $name.o
  if [[ ! -f $name.o ]]; then exit 1; fi
done
ld.lld *.o -o all.so
"""


def repository(top: Path, files: dict[str, str]) -> Path:
    for path, text in {
        **files,
        "op_host/scale_mask.cpp": TILING + DEFINITION,
        "op_kernel/scale_mask.cpp": KERNEL,
        "parts/part.h": "#pragma once\n",
    }.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    (top / ".git").mkdir()
    return top


@pytest.mark.every_level
@pytest.mark.parametrize(("name", "text"), [("Makefile", MAKEFILE), ("build.sh", SCRIPT)])
def test_an_operator_is_compiled_as_a_script_says(name: str, text: str, tmp_path: Path) -> None:
    operator = load_operator(repository(tmp_path, {name: text}))
    assert not (tmp_path / "build").exists()
    if sandbox_level() == "limits":  # nothing there would keep a script from the user's files
        assert operator.compile_options == ()
        return
    assert operator.compile_options == ("-DROWS=7", "--cce-auto-sync=off")
    assert (operator.auto_sync_word, operator.auto_sync_said_by) == ("off", name)
    assert tmp_path / "parts" in operator.include_folders


@needs_hidden_files
def test_a_kernel_that_a_program_launches_is_compiled_as_a_script_says(tmp_path: Path) -> None:
    top = repository(tmp_path, {"Makefile": MAKEFILE})
    kernel = top / "op_kernel" / "scale_mask.cpp"
    build = read_build(kernel.parent, top, apart=True, launched=kernel)
    assert build.options("ScaleMask").options == ("-DROWS=7", "--cce-auto-sync=off")
    other = top / "op_host" / "scale_mask.cpp"
    assert read_build(other.parent, top, apart=True, launched=other).options("Other").options == ()


def test_scripts_of_other_folders_and_ones_that_compile_nothing_are_not_run(tmp_path: Path) -> None:
    top = repository(tmp_path, {"other/build.sh": SCRIPT, "clean.sh": "rm -rf op_kernel\n"})
    assert compilations(tree_of(top), "") == ()
    assert (top / "op_kernel/scale_mask.cpp").is_file()


@needs_hidden_files
def test_the_nearest_script_comes_first_and_a_failing_one_says_what_it_did_before(
    tmp_path: Path,
) -> None:
    deep = "cc -DDEEP -c ../a.cpp\nfalse || exit 3\ncc -DLATE -c ../a.cpp\n"
    top = repository(
        tmp_path, {"a.cpp": "", "x/build.sh": deep, "all.sh": "cc -D TOP -c $PWD/a.cpp\n"}
    )
    assert compilations(tree_of(top), "x") == (
        Compilation("a.cpp", ("-DDEEP",), "x/build.sh"),
        Compilation("a.cpp", ("-DTOP",), "all.sh"),
    )


@needs_hidden_files
def test_a_script_reads_and_writes_nothing_outside_of_its_copy(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("17")
    top = tmp_path / "repository"
    script = f"""
cc -DSECRET=$(cat {tmp_path}/secret) -c op_kernel/scale_mask.cpp
echo 1 > {top}/written; echo 1 > {tmp_path}/written; rm -rf {top}
cc -Ddone -I/usr/include -I../.. -c op_kernel/scale_mask.cpp
"""
    repository(top, {"build.sh": script})
    assert [one.options for one in compilations(tree_of(top), "")] == [("-DSECRET=",), ("-Ddone",)]
    assert (top / "op_kernel/scale_mask.cpp").is_file()
    assert not list(tmp_path.rglob("written"))


@needs_hidden_files
def test_what_a_script_includes_counts_when_it_changes(tmp_path: Path) -> None:
    top = repository(tmp_path, {"Makefile": "include common.mk\nall: x.cpp\n\tcc $(D) -c x.cpp\n"})
    (top / "x.cpp").write_text("")
    for rows in (1, 22):
        (top / "common.mk").write_text(f"D = -DROWS={rows}\n")
        (found,) = compilations(tree_of(top), "")
        assert found.options == (f"-DROWS={rows}",)


@needs_hidden_files
@pytest.mark.parametrize(
    "words", ["mkfifo", "echo a.cpp >", "printf 'a.cpp\\0\\n\\0\\0' >", "mkdir"]
)
def test_what_a_script_writes_in_place_of_the_notes_says_nothing(
    words: str, tmp_path: Path
) -> None:
    """A pipe is not waited for, either."""
    top = repository(tmp_path, {"build.sh": f'{words} "$ASCENDOPT_NOTED" # a.cpp\n'})
    assert compilations(tree_of(top), "") == ()
