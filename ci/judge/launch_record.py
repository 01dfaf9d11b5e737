"""One launch of a build, and how its outputs compare with the right ones."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ci.backend.base import Build
from ci.judge.accuracy import Accuracy
from ci.judge.compare_outputs import Compared, accuracies, compare_outputs
from ci.judge.measure import Interval, interval
from ci.judge.reference import References, empty_like
from ci.judge.varied.base import case_words
from ci.model.amount import amount
from ci.model.columns import output_dtypes
from ci.model.ensemble import Ensemble
from ci.model.errors import TrialFailure, in_case
from ci.model.launch import CaseRun, Tensors, arrays
from ci.model.trial import MachineWarning
from ci.model.workload import WorkloadCase
from ci.system.ledger import booked

UNORDERED_SUM = "unordered_sum"
"""The machine's word for floats that cores add atomically."""


@dataclass(frozen=True)
class Launched:
    """A launch that ended well. Its outputs were compared and are not kept."""

    case: WorkloadCase
    run: CaseRun
    compared: Compared
    digest: bytes
    """The digest of the outputs' bytes: equal outputs need not be judged twice."""
    accuracy: tuple[Accuracy, ...] | None = None
    """The accuracy of each floating-point output tensor, in order; None where nobody asked."""

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
class TurnedDown:
    """Cases on which no candidate is launched, by the reason, which are three different things."""

    refused: int = 0
    """The unmodified operator does not take them."""
    wrong: int = 0
    """It takes them and gets them wrong."""
    costly: int = 0
    """They cost too much to be tried: nothing is known of them."""
    seconds: float = 0.0
    """Estimate of what the cheapest of those would cost."""

    def decline(self, defect: str) -> None:
        """Count one that the unmodified operator does not take, or that has a `defect` there."""
        self.wrong += bool(defect)
        self.refused += not defect

    def too_costly(self, seconds: float) -> None:
        """Count one that would cost so much."""
        self.seconds = min(self.seconds, seconds) if self.costly else seconds
        self.costly += 1

    @property
    def reasons(self) -> tuple[str, ...]:
        """Each reason in words, with how many cases it turned down."""
        said = []
        if self.refused:
            said.append(f"the original operator rejects it, too ({amount(self.refused, 'case')})")
        if self.wrong:
            said.append(f"the original operator is wrong on it, too ({amount(self.wrong, 'case')})")
        if self.costly:
            said.append(
                f"too costly to try ({amount(self.costly, 'case')},"
                f" at least {self.seconds:.0f} s each)"
            )
        return tuple(said)


@dataclass
class Sweep:
    """The varied cases that a candidate is launched on."""

    cases: list[tuple[str, Launched]] = field(default_factory=list)
    """What is varied, with the unmodified operator's launch."""
    turned_down: dict[str, TurnedDown] = field(default_factory=dict)
    """What it is not launched on, by what is varied."""
    regimes: int = 0
    """Ways in which the host side treats inputs of the workload's kind, as far as it takes them and
    is right on them."""
    untried: tuple[str, ...] = ()
    """The ways among these that cost too much to be tried, with the cost."""
    defects: dict[str, str] = field(default_factory=dict)
    """The first of them that it takes and gets wrong, by what is varied."""
    wrong: list[tuple[str, WorkloadCase, str]] = field(default_factory=list)
    """All of them that it takes and gets wrong: what is varied, the case, and how."""
    longer: tuple[tuple[WorkloadCase, ...], ...] = ()
    """For each dimension that does not grow by a single element, cases that are a step longer which
    it does not pass: steps of 1, 8 and so on."""
    odd: list[tuple[str, WorkloadCase]] = field(default_factory=list)
    """Others that no candidate is launched on, whatever they show: with what is varied."""

    @property
    def shown_defects(self) -> list[tuple[str, str]]:
        """The first wrong case of each kind in words, and what is wrong."""
        first: dict[str, tuple[str, str]] = {}
        for kind, case, said in self.wrong:
            first.setdefault(kind, (case_words(case), said))
        return list(first.values())

    @property
    def counts(self) -> dict[str, int]:
        """Cases by what is varied."""
        kinds = [kind for kind, _ in self.cases]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    def turn_down(self, kind: str) -> TurnedDown:
        """The count of a kind, to be added to."""
        return self.turned_down.setdefault(kind, TurnedDown())

    @property
    def declined(self) -> int:
        """Cases that the unmodified operator does not take, or gets wrong."""
        return sum(one.refused + one.wrong for one in self.turned_down.values())

    @property
    def costly(self) -> int:
        """Cases that cost too much to be tried."""
        return sum(one.costly for one in self.turned_down.values())

    @property
    def untaken(self) -> tuple[str, ...]:
        """What was varied in vain: each kind with its reasons."""
        counts = self.counts
        return tuple(
            f"{kind}: {' and '.join(one.reasons)}"
            for kind, one in self.turned_down.items()
            if kind not in counts and one.reasons
        )


def launch_once(
    build: Build,
    references: References,
    case: WorkloadCase,
    seed: int,
    timeline: Path | None = None,
    *,
    before: Launched | None = None,
    states: Ensemble | None = None,
) -> Launched:
    """Launch a case on the inputs of a seed and compare what it gave.

    The same launch is timed in each of the start `states` too, where the backend can.
    `before` is the unmodified operator's launch: outputs of the same bytes are as right as its own,
    and the accuracy of others is measured. Raises TrialFailure when the launch fails, and
    InputError
    when the golden function does.
    """
    run = _run(build, references, case, seed, timeline, states)
    with booked("verify"):
        digest = digest_of(run.outputs)
        if before is not None and digest == before.digest:
            compared, accuracy = before.compared, None
        else:
            compared = compare_outputs(
                run.outputs,
                references.of(case, seed).outputs,
                *_columns(references, case),
                references.workload.tolerances,
            )
            accuracy = None if before is None else _accuracy(run, references, case, seed)
    warnings = run.warnings
    if references.workload.any_order:  # its user said that this may be
        warnings = tuple(w for w in warnings if w.kind != UNORDERED_SUM)
    kept = dataclasses.replace(run, outputs=[], warnings=warnings)
    return Launched(case, kept, compared, digest, accuracy)


def accuracy_once(
    build: Build, references: References, case: WorkloadCase, seed: int, *, forgiving: bool = False
) -> tuple[Accuracy, ...]:
    """Launch a case on the inputs of a seed and tell how accurate it is.

    `forgiving`: what is lost where terms cancel is left out. Raises what `launch_once` does.
    """
    run = _run(build, references, case, seed)
    with booked("verify"):
        return _accuracy(run, references, case, seed, forgiving=forgiving)


def _run(
    build: Build,
    references: References,
    case: WorkloadCase,
    seed: int,
    timeline: Path | None = None,
    states: Ensemble | None = None,
) -> CaseRun:
    try:
        with booked("verify"):
            reference = references.of(case, seed)
        outputs = empty_like(reference.outputs)
        return build.run(
            case, reference.inputs, outputs, seed=seed, timeline=timeline, ensemble=states
        )
    except TrialFailure as failure:
        raise in_case(failure, case.name, seed) from failure


def _columns(references: References, case: WorkloadCase) -> tuple[list[str], Sequence[str]]:
    """Names and dtypes of the outputs."""
    operator = references.operator
    return [spec.name for spec in operator.outputs], output_dtypes(operator, case)


def _accuracy(
    run: CaseRun, references: References, case: WorkloadCase, seed: int, *, forgiving: bool = False
) -> tuple[Accuracy, ...]:
    exact, scale = references.exact(case, seed), references.of(case, seed).scale
    swayed = references.swayed(case, seed) if forgiving else ()
    return accuracies(run.outputs, exact, *_columns(references, case), scale, swayed)


def digest_of(outputs: Tensors) -> bytes:
    """SHA-256 over shapes, dtypes and bytes of all output tensors."""
    found = hashlib.sha256()
    for tensor in outputs:
        for array in arrays([tensor]):
            found.update(f"{array.shape} {array.dtype} ".encode())
            found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        found.update(b";")
    return found.digest()


def new_warning(
    warnings: Iterable[MachineWarning], known: Iterable[MachineWarning]
) -> MachineWarning | None:
    """The first warning of a kind that is not among the known ones."""
    kinds = {w.key for w in known}
    return next((w for w in warnings if w.is_fault and w.key not in kinds), None)
