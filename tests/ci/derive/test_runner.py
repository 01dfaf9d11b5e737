"""Inputs that a kernel changes are found, and looked for only where it may have changed some."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.derive.runner import Ran, Runner
from ci.host.kernel_unit import KernelVariant
from ci.model.workload import WorkloadCase
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.judge.check.small_operator import LOAD, STORE, write_operator

TWICE = f"{LOAD} Muls(a, a, 2.0f, n); {STORE}"


def small(folder: Path, body: str) -> tuple[Runner, WorkloadCase]:
    """A runner of a small operator without golden function, and its case."""
    path = write_operator(folder, body, golden="x", output=(1024,))
    operator = load_operator(path)
    workload = load_workload(operator)
    frame = workload.model_copy(update={"golden": ""})
    return Runner(operator, frame, SimulatorBackend("910B4")), workload.cases[0]


def test_an_input_that_the_kernel_changes_is_found(tmp_path: Path) -> None:
    own, case = small(tmp_path / "small", f"{TWICE} DataCopy(x, a, n);")
    assert isinstance(own.run(case), Ran)
    assert own.updated(case) == ("x",)


def test_no_kernel_is_built_to_look_for_changed_inputs_where_outputs_alone_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, case = small(tmp_path / "small", TWICE)
    assert isinstance(own.run(case), Ran)

    def build(*given: object, **how: object) -> Path:
        asked = [one for one in given if isinstance(one, KernelVariant)]
        raise AssertionError(f"a kernel is built for {asked}")

    monkeypatch.setattr(Toolchain, "compile_kernel", build)
    assert own.updated(case) == ()
