"""One launch of a build, and how its outputs compare with the right ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ci.backend.base import Build
from ci.judge.accuracy import Accuracy
from ci.judge.compare_outputs import Compared, accuracies, compare_outputs
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
    accuracy: tuple[Accuracy, ...] = ()
    """Of each floating-point output tensor, in order."""

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


@dataclass
class Sweep:
    """The varied cases that a candidate is launched on."""

    cases: list[tuple[str, Launched]] = field(default_factory=list)
    """What is varied, with the unmodified operator's launch."""
    refused: dict[str, int] = field(default_factory=dict)
    """Cases that it does not take, by what is varied."""
    defects: dict[str, str] = field(default_factory=dict)
    """The first of them that it takes and gets wrong, by what is varied."""

    @property
    def counts(self) -> dict[str, int]:
        """Cases by what is varied."""
        kinds = [kind for kind, _ in self.cases]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    @property
    def untaken(self) -> tuple[str, ...]:
        """What was varied in vain."""
        return tuple(kind for kind in self.refused if kind not in self.counts)


def launch_once(
    build: Build,
    references: References,
    case: WorkloadCase,
    seed: int,
    timeline: Path | None = None,
    *,
    forgiving: bool = False,
) -> Launched:
    """Launch a case on the inputs of a seed and compare what it gave.

    `forgiving`: its accuracy leaves out what is lost where terms cancel. Raises TrialFailure when
    the launch fails, and InputError when the golden function does.
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
    names = [spec.name for spec in operator.outputs]
    dtypes = output_dtypes(operator, case)
    with booked("verify"):
        compared = compare_outputs(
            run.outputs, reference.outputs, names, dtypes, references.workload.tolerances
        )
        swayed = references.swayed(case, seed) if forgiving else ()
        accuracy = accuracies(run.outputs, reference.exact, names, dtypes, reference.scale, swayed)
    return Launched(case, dataclasses.replace(run, outputs=[]), compared, accuracy)


def new_warning(
    warnings: Iterable[MachineWarning], known: Iterable[MachineWarning]
) -> MachineWarning | None:
    """The first warning of a kind that is not among the known ones."""
    kinds = {w.key for w in known}
    return next((w for w in warnings if w.is_fault and w.key not in kinds), None)
