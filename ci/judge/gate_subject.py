"""What a gate looks at: a candidate with its launches, and the standard that it is held to."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from ci.backend.base import Backend, Build
from ci.judge.baseline import Baseline
from ci.judge.launch_record import Launched, Sweep, launch_once
from ci.judge.reference import References
from ci.judge.siblings import Siblings
from ci.model.ensemble import Condition, Ensemble
from ci.model.errors import InputError, TrialFailure
from ci.model.frozen import Frozen
from ci.model.launch import Expected
from ci.model.operator import Operator
from ci.model.result import Decisions, Sibling
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload, WorkloadCase


class EvaluationSettings(Frozen):
    """How candidates are judged."""

    thorough_seeds: int = Field(
        default=3, ge=0, description="Further seeds that the final verification draws inputs from."
    )
    varied_cases: int = Field(
        default=64, ge=0, description="Most varied cases of the final verification."
    )
    siblings: int = Field(
        default=64,
        ge=0,
        description="Most operators that a change of shared sources is judged on in addition to"
        " its own.",
    )
    timelines: Path | None = Field(
        default=None,
        description="Folder that takes an instruction timeline (JSON lines) of each case.",
    )
    jobs: int = Field(
        default=1, ge=1, description="Cases that are built and run side by side; same results."
    )
    ensemble: Ensemble | None = Field(
        default=None,
        description="What final figures are measured over; None: the figure of the search alone.",
    )

    @property
    def state(self) -> Condition:
        """The state in which the launches of the search begin."""
        return self.ensemble.conditions[0] if self.ensemble else "cold"


def states_of(
    workload: Workload,
    backend: Backend,
    settings: EvaluationSettings,
    case: WorkloadCase,
    seed: int,
) -> Ensemble | None:
    """What `Standard.states` says, for whoever is made before it."""
    chosen = settings.ensemble
    if chosen is None or not backend.fingerprint().simulated:
        return None
    counts = seed == workload.seeds[0] and case in workload.cases
    return chosen.states if counts else None


@dataclass(frozen=True)
class Standard:
    """What all candidates of one operator are held to."""

    operator: Operator
    workload: Workload
    backend: Backend
    references: References
    baseline: Baseline
    settings: EvaluationSettings
    siblings: Siblings
    """The other operators that a change of shared sources concerns."""
    elsewhere: Callable[[str], Standard]
    """The same on another chip of the simulator, made once."""
    judge_launch: Callable[[Subject], TrialFailure | None]
    """The gates of the phase `launch`, for gates that launch the candidate on further cases."""

    def states(self, case: WorkloadCase, seed: int) -> Ensemble | None:
        """The states that a launch is timed in: none but on the first seed of the workload's own
        cases, whose times count."""
        return states_of(self.workload, self.backend, self.settings, case, seed)

    def changed(self, files: dict[str, str]) -> dict[str, str]:
        """Return those of the files that do not equal the operator's own text."""
        own = {*self.operator.sources}
        return {f: t for f, t in files.items() if f not in own or self.operator.read(f) != t}


@dataclass
class _Work:
    """What is made of a candidate once and seen by every gate."""

    build: Build | TrialFailure | None = None
    launches: dict[tuple[str, int], Launched | TrialFailure] = field(default_factory=dict)
    sweeps: dict[str, Sweep] = field(default_factory=dict)
    """The varied cases that it was launched on, by the phase of the gate."""
    decisions: Decisions | None = None
    """What its comparisons were seen to do, once a gate has asked."""
    siblings: tuple[Sibling, ...] = ()
    """How the siblings fare, once a gate has asked."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Subject:
    """A candidate before a gate, on one case and seed; `at` moves it to another."""

    standard: Standard
    candidate: Candidate
    case: WorkloadCase
    seed: int
    timed: bool = True
    """Whether its time on this case counts, and not only its outputs."""
    trial: Trial | None = None
    """Its measured trial, for the gates of admission."""
    parent: Trial | None = None
    """What it was made from, for those gates."""
    before: Trial | None = None
    """The original operator, for those gates."""
    work: _Work = field(default_factory=_Work)

    def at(self, case: WorkloadCase, seed: int, *, timed: bool = True) -> Subject:
        """The same candidate on another case and seed."""
        return dataclasses.replace(self, case=case, seed=seed, timed=timed)

    def measured(self, trial: Trial, parent: Trial, before: Trial) -> Subject:
        """The same candidate with its trial, for the gates of admission."""
        return dataclasses.replace(self, trial=trial, parent=parent, before=before)

    def elsewhere(self, device: str) -> Subject:
        """The same candidate on another chip."""
        return Subject(self.standard.elsewhere(device), self.candidate, self.case, self.seed)

    def launch(self, timeline: Path | None = None) -> Launched | TrialFailure:
        """The launch on this case and seed, or how it or the build failed; made once."""
        key = (self.case.name, self.seed)
        if key not in self.work.launches:
            try:
                found: Launched | TrialFailure = self._launch(timeline)
            except TrialFailure as failure:
                found = failure
            self.work.launches[key] = found
        return self.work.launches[key]

    def judged(self) -> TrialFailure | None:
        """The first refusal of the gates that are asked of each launch."""
        return self.standard.judge_launch(self)

    @property
    def failure(self) -> TrialFailure | None:
        """How the build or the launch failed; None when it ended well."""
        found = self.launch()
        return found if isinstance(found, TrialFailure) else None

    @property
    def launched(self) -> Launched:
        """The launch, which must have ended well."""
        found = self.launch()
        assert isinstance(found, Launched), found
        return found

    @property
    def unmodified(self) -> Launched | None:
        """What the unmodified operator does here, held against a golden function; None without
        one, and where it or the operator fails."""
        if self.standard.references.kind != "golden":
            return None
        try:
            return self.standard.baseline.at(self.case, self.seed)
        except (TrialFailure, InputError):
            return None

    def _launch(self, timeline: Path | None) -> Launched:
        standard = self.standard
        if timeline is None and not standard.changed(self.candidate.files):
            return standard.baseline.at(self.case, self.seed)
        build, before = self.build(), self.unmodified
        states = standard.states(self.case, self.seed)
        return launch_once(
            build, standard.references, self.case, self.seed, timeline, before=before, states=states
        )

    def build(self) -> Build:
        """The candidate, built once. Raises TrialFailure."""
        standard = self.standard
        with self.work.lock:
            if self.work.build is None:
                try:
                    self.work.build = (
                        standard.backend.build(
                            standard.operator, self.candidate.files, standard.workload
                        )
                        if standard.changed(self.candidate.files)
                        else standard.references.unmodified
                    )
                except TrialFailure as failure:
                    self.work.build = failure
        if isinstance(self.work.build, TrialFailure):
            raise self.work.build
        return self.work.build

    def workload_on(self, seeds: Iterable[int]) -> list[tuple[WorkloadCase, int]]:
        """Every case of the workload on each of the seeds."""
        return [(case, seed) for seed in seeds for case in self.standard.workload.cases]

    def expecting(self, seeds: Iterable[int]) -> AbstractContextManager[None]:
        """Tell the backend which launches of the workload follow, as far as their inputs are
        there."""
        known = [
            (case, seed, self.standard.references.known(case, seed))
            for case, seed in self.workload_on(seeds)
        ]
        launches = [Expected(case, seed, r.inputs, r.outputs) for case, seed, r in known if r]
        return self.standard.backend.expecting(self.standard.operator, launches)

    def in_order(
        self,
        places: Iterable[tuple[WorkloadCase, int]],
        *,
        timed: bool = True,
        timelines: Path | None = None,
    ) -> Iterator[Subject]:
        """The candidate on each of the cases and seeds, launched up to `jobs` at a time.

        In order, so that what is found first is the same with any number of jobs.
        """
        numbered = [
            (self.at(case, seed, timed=timed), timelines and timelines / f"{number}.jsonl")
            for number, (case, seed) in enumerate(places)
        ]
        if self.standard.settings.jobs == 1:
            for one, timeline in numbered:
                one.launch(timeline)
                yield one
            return
        with ThreadPoolExecutor(self.standard.settings.jobs, "case") as threads:
            futures = [(one, threads.submit(one.launch, timeline)) for one, timeline in numbered]
            try:
                for one, future in futures:
                    future.result()
                    yield one
            finally:
                for _, future in futures:
                    future.cancel()
