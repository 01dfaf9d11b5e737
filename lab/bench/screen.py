"""How many device evaluations a screening simulator spares, and whether the outcome is the same.

No device is needed: one is stood in for by the machine with other constants than those that the
screen knows, within their ranges. So it is known by how much the predictions are off.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ci.backend.sim import SimulatorBackend
from ci.judge.base import Judge
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.two_tiers import TwoTiers
from ci.model.ensemble import ensemble
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Fingerprint
from ci.proposer.rules.proposer import rules_proposer
from ci.search.optimize import optimize
from ci.search.run import was_paid
from ci.search.task import Task
from ci.source.workload_file import load_workload
from lab.model.screen import ScreenBench, ScreenBenchSettings, ScreenRow

MOVED: Final[Mapping[str, float]] = {
    "launch.base_us": 1.4,
    "launch.us_per_core": 1.5,
    "hbm.efficiency": 0.93,
    "mte2.latency": 1.15,
    "scalar.instruction": 1.6,
}
"""Factors of the stand-in's constants, within what rules/devices leaves open for each."""


class StandIn(SimulatorBackend):
    """A device as far as anybody can tell: the machine with constants that are moved."""

    def __init__(self, device: str, moved: Mapping[str, float] = MOVED) -> None:
        super().__init__(device)
        constants = self.device.constants | {
            name: self.device.number(name) * factor for name, factor in moved.items()
        }
        self.device = self.device.model_copy(update={"constants": constants})

    def fingerprint(self) -> Fingerprint:
        """Fingerprint of the fake device."""
        return Fingerprint(
            backend="cann",
            device=self.device.name,
            version=f"stand-in, {self._version}",
            simulated=False,
        )


def screened_by_simulator(operator: Operator, device: str, second: Evaluator) -> TwoTiers:
    """Two tiers over `second`: the simulator of the device with the constants of its file."""
    chosen = EvaluationSettings(ensemble=ensemble(ranges=True))
    workload = load_workload(operator, None)
    first = Evaluator(operator, workload, SimulatorBackend(device), settings=chosen)
    return TwoTiers(first, second)


def measure(
    operators: Sequence[Operator], settings: ScreenBenchSettings, tell: Callable[[str], None]
) -> ScreenBench:
    """A row for each operator. Raises InputError for one without a workload."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="ascendopt-") as name:
        out = settings.out or Path(name)
        for operator in operators:
            tell(operator.name)
            device = Evaluator(operator, load_workload(operator, None), StandIn(settings.device))
            alone = _searched(operator, device.anew(), settings, out / "alone" / operator.name)
            tiers = screened_by_simulator(operator, settings.device, device.anew())
            both = _searched(operator, tiers, settings, out / "screened" / operator.name)
            made = [trial for trial in both.trials if was_paid(trial)]
            spared = sum(trial.screened for trial in made)
            rows.append(
                ScreenRow(
                    operator=operator.name,
                    alone=sum(map(was_paid, alone.trials)),
                    screened=len(made) - spared,
                    spared=spared,
                    speedup_alone=alone.speedup,
                    speedup_screened=both.speedup,
                )
            )
    return ScreenBench(rows=tuple(rows))


def _searched(operator: Operator, judge: Judge, settings: ScreenBenchSettings, out: Path) -> Result:
    task = Task(operator, load_workload(operator, None), judge, rules_proposer())
    chosen = OptimizeSettings(budget=settings.budget, seed=settings.seed, learn=False)
    return optimize(task, chosen, out)
