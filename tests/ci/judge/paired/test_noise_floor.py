"""The floor is what A/A runs differ by beyond what their own scatter explains; it is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci.judge.paired.noise_floor import BEYOND, ENOUGH_RUNS, AARun, floor
from ci.judge.paired.noise_store import NoiseStore
from ci.model.comparison import HARDWARE_FLOOR
from ci.model.errors import EnvironmentProblem


def runs(between: float, scatter: float, count: int) -> list[AARun]:
    random = np.random.default_rng(7)
    return [AARun.of(random.normal(random.normal(0.0, between), scatter, 10)) for _ in range(count)]


def test_scatter_within_runs_is_no_floor() -> None:
    assert floor(runs(0.0, 0.02, 20)) < 0.015


def test_builds_that_differ_are_one() -> None:
    assert floor(runs(0.02, 0.002, 20)) == pytest.approx(BEYOND * 0.02, rel=0.35)


def test_before_enough_runs_a_floor_is_assumed() -> None:
    assert floor(runs(0.0, 0.001, ENOUGH_RUNS - 1)) == HARDWARE_FLOOR


def test_one_disturbed_pair_makes_no_floor() -> None:
    logs = np.zeros(10)
    logs[3] = 2.0
    assert AARun.of(logs).mean == 0.0


def test_runs_are_kept_by_device_operator_and_case(tmp_path: Path) -> None:
    run = AARun(mean=0.01, error=0.002)
    NoiseStore(tmp_path / "deep" / "noise.sqlite").add("card 0", "add", {"": run, "a": run})
    again = NoiseStore(tmp_path / "deep" / "noise.sqlite")
    assert again.runs("card 0", "add", "") == [run]
    assert again.runs("card 0", "add", "b") == again.runs("card 1", "add", "") == []


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "noise.sqlite").write_text("text")
    with pytest.raises(EnvironmentProblem, match="cannot be opened"):
        NoiseStore(tmp_path / "noise.sqlite").runs("d", "o", "c")
