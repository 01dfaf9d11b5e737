"""The frame of a workload for a launched kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.main import run
from ci.model.errors import InputError
from ci.source.discovery import load_operator
from ci.source.launched.frame import OPEN, frame, write_frame
from tests.ci.source.launched.test_load import VALUES, repository


def test_a_frame_holds_the_entrys_parameters_and_its_launches(tmp_path: Path) -> None:
    folder = repository(tmp_path, VALUES)
    (tmp_path / "host.cpp").write_text("void f() { EXEC_KERNEL_CMD(scale_fp32, 8, x, y, 1); }\n")
    (tmp_path / "pipe.cpp").write_bytes(b"\0scale_fp32<<<")
    text = frame(tmp_path / "csrc" / "scale.asc", "scale_fp32", folder)
    assert "# csrc/scale.asc:" in text
    assert "# host.cpp:1: EXEC_KERNEL_CMD(scale_fp32, 8, x, y, 1)" in text
    assert "kernel: ../../csrc/scale.asc" in text
    for name, kind in (("each", "uint32_t"), ("factor", "int32_t"), ("shift", "float")):
        assert any(line.split()[:4] == [f"{name}:", OPEN, "#", kind] for line in text.splitlines())


def test_a_frame_that_is_filled_in_is_a_workload(tmp_path: Path) -> None:
    repository(tmp_path, VALUES)
    folder = tmp_path / "perf" / "mine"
    kernel = tmp_path / "csrc" / "scale.asc"
    asked = ["workload", "frame", str(kernel), "--entry", "scale_fp32", "--out", str(folder)]
    assert run(asked) == 0
    file = folder / "workload.yaml"
    with pytest.raises(InputError, match=OPEN):
        load_operator(folder)
    text = file.read_text()
    for old, new in (
        (f"blocks: {OPEN}", "blocks: 8"),
        ("outputs: {} ", "outputs: {y: x} "),
        (f"each: {OPEN}", "each: x.size // 8"),
        (f"factor: {OPEN}", "factor: 2"),
        (f"shift: {OPEN}", "shift: 1"),
        (f"x: {{shape: [{OPEN}], dtype: {OPEN}}}", "x: {shape: [2048], dtype: float32}"),
        (f"      y: {{shape: [{OPEN}], dtype: {OPEN}}}\n", ""),
    ):
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text)
    assert [spec.name for spec in load_operator(folder).outputs] == ["y"]


def test_a_frame_overwrites_nothing_and_needs_a_kernel(tmp_path: Path) -> None:
    folder = repository(tmp_path, VALUES)
    with pytest.raises(InputError, match="exists already"):
        write_frame(tmp_path / "csrc" / "scale.asc", "scale_fp32", folder)
    with pytest.raises(InputError, match="defines no kernel"):
        write_frame(tmp_path / "csrc" / "parts" / "plan.h", "", tmp_path / "other")
    with pytest.raises(InputError, match="There is no file"):
        write_frame(tmp_path / "none.cpp", "", tmp_path / "other")


def test_a_frame_is_written_only_where_its_workload_can_be_read(tmp_path: Path) -> None:
    top = tmp_path / "ops"
    repository(top, VALUES)
    kernel = top / "csrc" / "scale.asc"
    outside = tmp_path / "perf"
    with pytest.raises(InputError, match="outside of the kernel's git checkout"):
        write_frame(kernel, "scale_fp32", outside)
    (top / ".git").rename(top / "no_git")
    with pytest.raises(InputError, match="in no git checkout"):
        write_frame(kernel, "scale_fp32", outside)
    assert not outside.exists()
    file, _ = write_frame(kernel, "scale_fp32", kernel.parent)
    with pytest.raises(InputError, match=OPEN):
        load_operator(file.parent)
