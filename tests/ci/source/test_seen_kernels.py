"""What an owner reads whose repository holds kernels, but no operator."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ci.census.run import take_census
from ci.model.census import CensusSettings
from ci.model.errors import InputError
from ci.source.discovery import find_operators, load_operator
from ci.source.seen_kernels import left_out
from tests.places import OPERATORS

LAUNCHED = """
extern "C" __global__ __aicore__ void {0}(GM_ADDR x, int64_t rows) {{}}
void {0}_do(void* stream) {{ {0}<<<8, nullptr, stream>>>(nullptr, 1); }}
"""


def test_kernels_that_a_program_launches_itself_are_named(tmp_path: Path) -> None:
    for path, name in (("src/scale.cpp", "scale"), ("deep/er/mask.asc", "mask_rows")):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(LAUNCHED.format(name))
    with pytest.raises(InputError) as told:
        find_operators(tmp_path)
    for part in ("2 kernels", "scale in src/scale.cpp", "mask_rows in deep/er/mask.asc", "OP_ADD"):
        assert part in str(told.value)
    with pytest.raises(InputError, match="2 kernels"):
        take_census(tmp_path, CensusSettings(), tmp_path / "out", lambda *_: None)


def test_a_folder_without_kernels_says_so_briefly(tmp_path: Path) -> None:
    (tmp_path / "notes.cpp").write_text("int main() {}")
    os.mkfifo(tmp_path / "pipe.cpp")  # nobody writes to it
    with pytest.raises(InputError, match=r"with an op definition and a kernel\.$"):
        find_operators(tmp_path)


def test_what_a_program_declares_in_order_to_launch_it_is_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "scale.cpp").write_text(LAUNCHED.format("scale"))
    (tmp_path / "main.cpp").write_text('extern "C" __global__ __aicore__ void scale(GM_ADDR x);')
    with pytest.raises(InputError, match=r"1 kernel there has none \(scale in scale\.cpp\)"):
        find_operators(tmp_path)


def test_kernels_of_no_operator_are_named_where_there_are_operators(tmp_path: Path) -> None:
    """Not those of an operator, of whatever layout, nor one that a workload launches."""
    shutil.copytree(OPERATORS / "src" / "math" / "axpby", tmp_path / "axpby")
    (tmp_path / "pow2.cpp").write_text(
        "class Pow2 : public OpDef { explicit Pow2(const char* n) : OpDef(n) {} }; OP_ADD(Pow2);"
    )
    for path, name in (("pow2_kernel.cpp", "pow2"), ("own/mask.asc", "mask"), ("a.cpp", "alone")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(LAUNCHED.format(name))
    (tmp_path / "own/workload.yaml").write_text("launch: {kernel: mask.asc}\n")
    assert left_out(tmp_path).startswith("1 kernel belongs to no operator (alone in a.cpp). ")
    (tmp_path / "a.cpp").unlink()
    assert left_out(tmp_path) == ""


def test_folders_called_as_an_operators_may_hold_a_programs_kernel(tmp_path: Path) -> None:
    sample = tmp_path / "sample"
    for path, text in {
        "op_host/rows_tiling.cpp": "void Tile(uint32_t rows, uint8_t* to) { *to = rows; }\n",
        "op_kernel/rows.cpp": LAUNCHED.format("rows"),
    }.items():
        (sample / path).parent.mkdir(parents=True)
        (sample / path).write_text(text)
    with pytest.raises(InputError, match=r"workload frame \S+/op_kernel/rows\.cpp --out FOLDER"):
        load_operator(sample)
    with pytest.raises(InputError, match="1 kernel there has none"):
        find_operators(tmp_path)
    shutil.copytree(OPERATORS / "src" / "math" / "axpby", tmp_path / "axpby")
    assert [one.name for one in find_operators(tmp_path)] == ["axpby"]
    assert left_out(tmp_path).startswith(
        "1 kernel belongs to no operator (rows in sample/op_kernel"
    )
