"""Operators in folders of other names than op_host and op_kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.census.run import take_census
from ci.judge.evaluate import Evaluator
from ci.model.census import CensusSettings
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.session.reading import reading
from ci.source import placed
from ci.source.discovery import find_operators, load_operator, operator_places
from ci.source.placed import source_texts
from ci.source.workload_file import load_workload
from ci.testing.scale_shift import FOLDER
from tests.ci.source.test_declared import pair

BACKEND = SimulatorBackend("910B4", launch_seconds=20)

BUILD = """cmake_minimum_required(VERSION 3.16)
project(strange)
kernel_options(OPERATOR ScaleShift OPTIONS --cce-auto-sync=off)
kernel_options(OPERATOR ScaleShiftGrad OPTIONS --cce-auto-sync=on)
"""


def above_its_kernel(top: Path) -> Path:
    """ops/scale_shift with its kernel at the top, and the host's sources two folders below."""
    root = top / "ops" / "scale_shift"
    (top / ".git").mkdir(parents=True)
    shutil.copytree(FOLDER, root)
    (root / "for" / "cpu").mkdir(parents=True)
    (root / "op_host").rename(root / "for" / "cpu" / "parts")
    (root / "op_kernel" / "scale_shift.cpp").rename(root / "scale_shift.cpp")
    (root / "op_kernel").rmdir()
    return root


def two_in_a_folder(top: Path) -> Path:
    """math/scale_shift of two operators, sources by their side, and a build for each."""
    root = pair(top, header=True)
    (top / ".git").rmdir()
    (root / "op_host").rename(root / "declared")
    (root / "op_kernel").rename(root / "device")
    (root / "CMakeLists.txt").write_text(BUILD)
    return root


def test_an_operator_with_its_kernel_above_its_host_is_found_and_judged(tmp_path: Path) -> None:
    root = above_its_kernel(tmp_path)
    assert operator_places(tmp_path) == [root]
    (operator,) = find_operators(tmp_path)
    for source in (root, root / "scale_shift.cpp", root / "for/cpu/parts/scale_shift.cpp"):
        assert load_operator(source) == operator
    kernel = "op_kernel/ops/scale_shift/scale_shift.cpp"
    assert operator.kernel_sources == (kernel,)
    assert operator.repository_path(kernel) == "ops/scale_shift/scale_shift.cpp"
    assert {operator.path(p).name for p in operator.host_sources} == {
        "scale_shift.cpp",
        "scale_shift_tiling.h",
    }
    judge = Evaluator(operator, load_workload(operator), BACKEND)
    trial = judge.evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal
    text = operator.read(kernel).replace("2.0f", "3.0f")
    assert judge.evaluate(Candidate(files={kernel: text}), 1).outcome is Outcome.WRONG_RESULT
    broken = judge.evaluate(Candidate(files={kernel: "#error here\n" + text}), 2)
    assert broken.refusal is not None
    assert (broken.refusal.place.file, broken.refusal.place.line) == (kernel, 1)


def test_two_in_folders_of_other_names_are_each_of_its_own_sources(tmp_path: Path) -> None:
    root = two_in_a_folder(tmp_path)
    assert operator_places(tmp_path) == [root / "scale_shift", root / "scale_shift_grad"]
    found = {one.name: one for one in find_operators(tmp_path)}
    assert [one.auto_sync for one in found.values()] == [False, True]
    for name, one in found.items():
        assert {one.path(p).name for p in one.host_sources} == {f"{name}.cpp", f"{name}_tiling.h"}
        assert {one.path(p).name for p in one.kernel_sources} == {f"{name}.cpp", "step.h"}
        assert [s.path for s in one.shared_sources if not s.own] == ["device/step.h"]
    grad = found["scale_shift_grad"]
    trial = Evaluator(grad, load_workload(grad), BACKEND).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal


def test_a_kernel_that_the_definition_sets_need_not_have_its_name(tmp_path: Path) -> None:
    root = above_its_kernel(tmp_path)
    host, kernel = root / "for/cpu/parts/scale_shift.cpp", root / "scale_shift.cpp"
    kernel.write_text(kernel.read_text().replace("void scale_shift(", "void twice_and_one("))
    with pytest.raises(InputError, match="1 op definition has no kernel .ScaleShift in"):
        find_operators(tmp_path)
    place = host.relative_to(tmp_path).as_posix()
    assert [*reading(tmp_path).unread] == [place]
    (row,) = take_census(
        tmp_path, CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None
    )
    assert row.path == place and "opFile.value" in row.failures[0].message
    set_ = 'AddConfig("ascend910b", OpAICoreConfig().ExtendCfgInfo("opFile.value", "scale_shift"))'
    host.write_text(host.read_text().replace('AddConfig("ascend910b")', set_))
    assert [one.op_type for one in find_operators(tmp_path)] == ["ScaleShift"]


@pytest.mark.parametrize("said", ["this->AICPU()", "ForTheCpu(*this)"])
def test_an_operator_of_the_ai_cpu_is_none_of_ours(said: str, tmp_path: Path) -> None:
    """Also where a helper that no text here holds says so: nothing then speaks of the AI core."""
    root = above_its_kernel(tmp_path)
    (root / "scale_shift.cpp").unlink()
    host = root / "for/cpu/parts/scale_shift.cpp"
    host.write_text(host.read_text().replace("this->AICore()", said))
    assert operator_places(tmp_path) == []


def test_a_large_header_is_among_the_texts_that_say_who_includes_whom(tmp_path: Path) -> None:
    (tmp_path / "table.h").write_text('#include "asked.h"\n' + "0.5f,\n" * 500_000)
    assert source_texts(tmp_path)["table.h"].startswith('#include "asked.h"')


def test_sources_that_would_fill_the_memory_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed, "MOST_OF_ALL", 2_000_000)
    for name in ("one.h", "two.h"):
        (tmp_path / name).write_text(" " * 1_500_000)
    with pytest.raises(InputError, match="more than 2 MB of sources"):
        source_texts(tmp_path)
