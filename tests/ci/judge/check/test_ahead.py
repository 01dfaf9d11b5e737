"""What checks a workload's own cases is compiled before anybody waits for it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.check.ahead import compiled_ahead
from ci.judge.evaluate import Evaluator
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.judge.check.small_operator import LOAD, STORE, write_operator


def judge(folder: Path) -> Evaluator:
    operator = load_operator(folder)
    return Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))


def test_the_kernel_of_a_case_is_compiled_to_be_checked_while_something_else_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()
    compiled = Toolchain.compile_kernel

    def watched(self: Toolchain, *given: Any, **how: Any) -> Path:
        kernel = compiled(self, *given, **how)
        if how.get("flavour") == "checked" and threading.current_thread().name.startswith("ahead"):
            asked.set()
        return kernel

    monkeypatch.setattr(Toolchain, "compile_kernel", watched)
    body = f"{LOAD} Muls(a, a, 2.0f, n); {STORE}"
    folder = write_operator(tmp_path / "small", body, golden="x * np.float32(2)")
    with compiled_ahead(judge(folder).standard):
        assert asked.wait(120)
