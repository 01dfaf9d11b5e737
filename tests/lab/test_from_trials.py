from __future__ import annotations

from pathlib import Path

import pytest

from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.trial import Candidate
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.backend import SLOWER
from ci.testing.scale_shift import OPERATOR, WORKLOAD
from lab.bench.screen import StandIn, screened_by_simulator
from lab.from_trials import learn
from lab.model.calibration import typical_error
from rules.devices import load_device

OFF = {"launch.base_us": 1.5, "scalar.instruction": 1.8, "mte2.latency": 1.15}


def test_what_was_off_is_learnt_and_said(tmp_path: Path) -> None:
    device = Evaluator(OPERATOR, WORKLOAD, StandIn("910B4", OFF))
    tiers = screened_by_simulator(OPERATOR, "910B4", device)
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        for number, files in enumerate(({}, SLOWER)):
            store.append(tiers.evaluate(Candidate(files=files), number))
    found = learn([tmp_path], "910B4")
    assert len(found.as_it_was) == 2 * len(WORKLOAD.cases)
    assert all(row.predicted < row.measured for row in found.as_it_was)
    before, after = typical_error(found.as_it_was), typical_error(found.groups[0].rows)
    assert before > 0.05 and after < before / 3
    factors = {one.name: one.fitted / one.current for one in found.groups[0].constants}
    assert factors["scalar.instruction"] > 1.02
    ranges = load_device("910B4").ranges
    for name, (low, high) in ranges.items():
        assert low - 1e-6 <= factors.get(name, 1.0) <= high + 1e-6


def test_trials_without_a_prediction_teach_nothing(tmp_path: Path) -> None:
    with TrialStore(tmp_path / TRIALS_FILE):
        pass
    with pytest.raises(InputError, match="no trial there has a prediction"):
        learn([tmp_path], "910B4")
    with pytest.raises(InputError, match="There are no trials at"):
        learn([tmp_path / "nowhere"], "910B4")
