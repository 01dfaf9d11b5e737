"""One launch of a build, and how its outputs compare with the right ones."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from ci.backend.base import Build
from ci.judge.compare_outputs import Compared, compare_outputs
from ci.judge.measure import Interval, interval
from ci.judge.reference import References, empty_like
from ci.model.columns import output_dtypes
from ci.model.errors import TrialFailure, in_case
from ci.model.launch import CaseRun
from ci.model.trial import MachineWarning
from ci.model.workload import WorkloadCase
from ci.system.ledger import booked


@dataclass(frozen=True)
class Launched:
    """A launch that ended well. Its outputs were compared and are not kept."""

    case: WorkloadCase
    run: CaseRun
    compared: Compared

    @property
    def time(self) -> Interval:
        """Median and interval of its samples, in µs."""
        return interval(self.run.samples_us)

    @property
    def warnings(self) -> tuple[MachineWarning, ...]:
        """What the machine found odd, with the case in the place."""
        name = {"case": self.case.name}
        return tuple(
            w.model_copy(update={"place": w.place.model_copy(update=name)})
            for w in self.run.warnings
        )


def launch_once(
    build: Build,
    references: References,
    case: WorkloadCase,
    seed: int,
    timeline: Path | None = None,
) -> Launched:
    """Launch a case on the inputs of a seed and compare what it gave.

    Raises TrialFailure when the launch fails, and InputError when the golden function does.
    """
    with booked("verify"):
        reference = references.of(case, seed)
    try:
        run = build.run(
            case, reference.inputs, empty_like(reference.outputs), seed=seed, timeline=timeline
        )
    except TrialFailure as failure:
        raise in_case(failure, case.name, seed) from failure
    operator = references.operator
    with booked("verify"):
        compared = compare_outputs(
            run.outputs,
            reference.outputs,
            [spec.name for spec in operator.outputs],
            output_dtypes(operator, case),
            references.workload.tolerances,
        )
    return Launched(case, dataclasses.replace(run, outputs=[]), compared)
