"""Evaluates, admits and confirms a candidate: walks the list of gates and keeps what was measured.

Every candidate gets a `Trial`: with a measurement when it passed, else with a named outcome and
its refusal. Only what is wrong with the machine or with the user's own files
(`EnvironmentProblem`, `InputError`) is raised.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ci.backend.base import Backend
from ci.judge.base import Judge
from ci.judge.baseline import Baseline
from ci.judge.gate_subject import EvaluationSettings, Standard, Subject, states_of
from ci.judge.gates import admission, gates_of
from ci.judge.gates.base import Phase
from ci.judge.gates.more_seeds import seeds_of
from ci.judge.in_place import judged_operator
from ci.judge.launch_record import Sweep
from ci.judge.paired.timing import time_in_pairs
from ci.judge.reference import References, empty_like
from ci.judge.removed_sync import order_kept, removed_sync
from ci.judge.siblings import Evaluate, Siblings
from ci.judge.sizes import other_sizes
from ci.judge.varied.base import case_words, elements
from ci.judge.varied_sweep import LEAST_VARIED
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.result import OtherSizes, RemovedSync, Verification
from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    CaseOutcome,
    Fingerprint,
    MachineWarning,
    Measurement,
    Outcome,
    Refusal,
    Trial,
)
from ci.model.workload import Workload, WorkloadCase
from ci.system.cache import digest

HOPELESS = (Outcome.COMPILE_ERROR, Outcome.TIMEOUT)
"""What is dear to see again on the other cases, and tells nothing more there."""


class Evaluator(Judge):
    """Judges candidates of one operator on one workload and backend. Safe to share by threads."""

    def __init__(
        self,
        operator: Operator,
        workload: Workload,
        backend: Backend,
        *,
        settings: EvaluationSettings | None = None,
    ) -> None:
        self.operator = operator = judged_operator(operator, workload)
        self.workload = workload
        self.backend = backend
        self.references = references = References(operator, workload, backend)
        asked = settings or EvaluationSettings()
        self.standard = Standard(
            operator,
            workload,
            backend,
            references,
            Baseline(references, partial(states_of, workload, backend, asked)),
            asked,
            Siblings(operator, workload, self._judge_of, asked.siblings, asked.jobs),
            self._elsewhere,
            lambda subject: ask("launch", subject),
        )
        self._chips: dict[str, Evaluator] = {}
        self._known: dict[str, Trial] = {}
        self._lock = threading.Lock()

    def _judge_of(self, operator: Operator, workload: Workload) -> Evaluate:
        other = Evaluator(operator, workload, self.backend, settings=self.standard.settings)
        return lambda candidate: other.evaluate(candidate, 0)

    def _elsewhere(self, device: str) -> Standard:
        with self._lock:
            known = self._chips.get(device)
            if known is None:
                backend, settings = self.backend.on(device), self.standard.settings
                known = Evaluator(self.operator, self.workload, backend, settings=settings)
                self._chips[device] = known
        return known.standard

    def load(self) -> None:
        """Load the golden, so that what is wrong with it is said before anything is built."""
        self.references.load()

    def fingerprint(self) -> Fingerprint:
        """Which device and which versions give the figures."""
        return self.backend.fingerprint()

    def anew(self) -> Evaluator:
        """One that has seen no trial, with the same right answers and the same baseline."""
        other = copy.copy(self)
        other._known = {}
        return other

    def subject(self, candidate: Candidate) -> Subject:
        """The candidate as a gate sees it, on the workload's first case and seed."""
        return Subject(self.standard, candidate, self.workload.cases[0], self.workload.seeds[0])

    def program(self, candidate: Candidate) -> str:
        """Names what the candidate runs on the workload: two of one name have equal trials.

        '' for one that does not build or may not be built, and where the backend cannot tell.
        """
        subject = self.subject(candidate)
        if ask("sources", subject):
            return ""
        seed = self.workload.seeds[0]
        found = []
        try:
            for case in self.workload.cases:
                right = self.references.of(case, seed)
                outputs = empty_like(right.outputs)
                found.append(subject.build().program(case, right.inputs, outputs))
        except TrialFailure:
            return ""
        return digest(found) if all(found) else ""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial. An equal program evaluated before is answered from memory, `cached`."""
        key = Candidate(files=self.standard.changed(candidate.files)).hash
        with self._lock:
            known = self._known.get(key)
        if known and not profile:
            return known.model_copy(
                update={"number": number, "candidate": candidate, "cached": True, "seconds": 0.0}
            )
        started = time.monotonic()
        subject = self.subject(candidate)
        failure = ask("sources", subject)
        cases = () if failure else self._launch(subject, profile)
        refused = next((c for c in cases if c.refusal), None)
        if refused and refused.refusal:
            failure = TrialFailure(refused.outcome, refused.refusal)
        measurement: Measurement | None = None
        warnings: tuple[MachineWarning, ...] = ()
        if not failure:
            try:
                measurement, warnings = self._measured(subject)
            except TrialFailure as problem:  # a launch fails that passed before
                failure = problem
        if failure and failure.outcome is Outcome.RACE and self._sync_is_open:
            failure = self._judged_with_sync(candidate, failure)
        trial = Trial(
            number=number,
            candidate=candidate,
            outcome=failure.outcome if failure else Outcome.OK,
            refusal=failure.refusal if failure else None,
            gates=_passed(("sources", "launch"), failure.refusal if failure else None),
            cases=cases,
            measurement=measurement,
            seconds=time.monotonic() - started,
            warnings=warnings,
        )
        with self._lock:
            self._known.setdefault(key, trial)
        return trial

    @property
    def _sync_is_open(self) -> bool:
        return self.operator.auto_sync_open and self.workload.auto_sync is None

    def _judged_with_sync(self, candidate: Candidate, race: TrialFailure) -> TrialFailure:
        """The race, and what the operator does with automatic synchronisation: its build leaves
        open which of both it is built with."""
        workload = self.workload.model_copy(update={"auto_sync": True})
        other = Evaluator(self.operator, workload, self.backend, settings=self.standard.settings)
        outcome = other.evaluate(candidate, 0).outcome
        result = "the result is right" if outcome is Outcome.OK else f"it ends as {outcome.value}"
        sentence = (
            f"{race.refusal.sentence} This is without automatic synchronisation; with it {result}."
            f" The build leaves open which of both holds ({self.operator.auto_sync_said_by}):"
            " 'auto_sync' in the workload decides."
        )
        return TrialFailure(race.outcome, race.refusal.model_copy(update={"sentence": sentence}))

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """The trial as it may be inherited or reported, or with outcome `unfit` and its refusal.

        `parent` is what the candidate was made from, `baseline` the original operator;
        `without` names gates that are not asked. Costs launches, but none of a gate that the
        trial has passed already. Raises ValueError when a name is no gate of admission.
        """
        if trial.outcome is not Outcome.OK:
            return trial
        subject = self.subject(trial.candidate).measured(trial, parent, baseline)
        for gate in admission(without):
            if gate.name in trial.gates:
                continue
            failure = gate.check(subject)
            if failure is not None:
                return trial.model_copy(
                    update={"outcome": failure.outcome, "refusal": failure.refusal}
                )
            trial = trial.model_copy(update={"gates": (*trial.gates, gate.name)})
        return trial

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """Times of each case as every member of the ensemble, in µs.

        Launches each case once more, on the first seed. {} where no ensemble is asked for, and for
        hardware, whose samples say how sure they are. Raises TrialFailure.
        """
        chosen = self.standard.settings.ensemble
        if chosen is None or not self.backend.fingerprint().simulated:
            return {}
        build = self.subject(candidate).build()
        seed = self.workload.seeds[0]

        def launch(case: WorkloadCase) -> dict[str, float]:
            right = self.references.of(case, seed)
            outputs = empty_like(right.outputs)
            return build.run(case, right.inputs, outputs, seed=seed, ensemble=chosen).members_us

        cases = self.workload.cases
        with ThreadPoolExecutor(self.standard.settings.jobs, "case") as threads:
            return {c.name: m for c, m in zip(cases, threads.map(launch, cases), strict=True)}

    def confirm(self, trial: Trial) -> Verification:
        """The final check of an admitted trial. Raises TrialFailure with the refusal of a gate."""
        subject = self.subject(trial.candidate)
        failure = ask("sources", subject) or ask("confirm", subject)
        if failure is not None:
            raise failure
        seeds = seeds_of(subject)
        found = [
            subject.at(case, seed).launched.compared
            for seed in seeds
            for case in self.workload.cases
        ]
        varied = subject.work.sweeps["confirm"]
        removed, order = self._removed_sync(subject, len(found) + len(varied.cases))
        return Verification(
            seeds=seeds,
            cases=len(self.workload.cases),
            elements=sum(f.elements for f in found),
            reference=self.references.kind,
            worst_error=max((f.worst_error for f in found), default=0.0),
            varied=varied.counts,
            sizes=self._sizes(subject, varied),
            shallow=len(varied.cases) < LEAST_VARIED,
            not_varied=varied.untaken,
            regimes=varied.regimes,
            baseline_defects=tuple(f"{case}: {said}" for case, said in varied.shown_defects),
            gates=tuple(gate.name for gate in gates_of("confirm")),
            siblings=subject.work.siblings,
            decisions=subject.work.decisions,
            removed_sync=removed,
            order=order,
        )

    def _sizes(self, subject: Subject, varied: Sweep) -> OtherSizes:
        seed = self.workload.seeds[0]
        own = [self.standard.baseline.at(case, seed) for case in self.workload.cases]
        launched = [*own, *(before for _, before in varied.cases)]
        return other_sizes(
            (
                case_words(b.case),
                elements(b.case),
                b.time.median,
                subject.at(b.case, seed).launched.time.median,
            )
            for b in launched
        )

    def _removed_sync(self, subject: Subject, launches: int) -> tuple[tuple[RemovedSync, ...], str]:
        before = {f: self.operator.read(f) for f in self.operator.kernel_sources}
        after = before | {
            f: t for f, t in subject.candidate.files.items() if f.startswith("op_kernel/")
        }
        removed = removed_sync(before, after)
        if not removed:
            return (), ""
        given = self.workload.auto_sync
        waits = None
        if self.operator.auto_sync if given is None else given:
            launched = [(c, self.workload.seeds[0]) for c in self.workload.cases]
            old = [self.standard.baseline.at(*one) for one in launched]
            new = [subject.at(*one).launched for one in launched]
            was, now = (sum(one.run.pipes.inserted_waits for one in some) for some in (old, new))
            waits = (was, now)
        return removed, order_kept(after, launches, waits)

    def _launch(self, subject: Subject, profile: bool) -> tuple[CaseOutcome, ...]:
        """Every case on the first seed, whose times count; on the others if all of them passed."""
        folder = self.standard.settings.timelines if profile else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        first, *others = self.workload.seeds
        with subject.expecting(self.workload.seeds):
            found = self._launch_seeds(subject, [first], folder)
            if not any(found.values()):
                found |= self._launch_seeds(subject, others, None, timed=False)
        return tuple(
            CaseOutcome(case=name, outcome=failure.outcome, refusal=failure.refusal)
            if failure
            else CaseOutcome(case=name, outcome=Outcome.OK)
            for name, failure in found.items()
        )

    def _launch_seeds(
        self, subject: Subject, seeds: Sequence[int], folder: Path | None, *, timed: bool = True
    ) -> dict[str, TrialFailure | None]:
        """How each case ended. One that does not compile, or does not end, ends the others too."""
        found: dict[str, TrialFailure | None] = {}
        for one in subject.in_order(subject.workload_on(seeds), timed=timed, timelines=folder):
            failure = one.judged()
            found[one.case.name] = found.get(one.case.name) or failure
            if failure and failure.outcome in HOPELESS:
                break
        return found

    def _measured(self, subject: Subject) -> tuple[Measurement, tuple[MachineWarning, ...]]:
        """The times of the first seed, and the machine's warnings, each once."""
        rows: list[CaseMeasurement] = []
        warnings: list[MachineWarning] = []
        for case in self.workload.cases:
            launched = subject.at(case, self.workload.seeds[0]).launched
            warnings += launched.warnings
            if self.backend.scatters:
                continue
            rows.append(
                CaseMeasurement(
                    case=case.name,
                    samples_us=launched.run.samples_us,
                    median_us=launched.time.median,
                    low_us=launched.time.low,
                    high_us=launched.time.high,
                    tiling_key=launched.run.tiling_key,
                    pipes=launched.run.pipes,
                    weight=case.weight,
                    members_us=launched.run.members_us,
                )
            )
        if self.backend.scatters:
            return time_in_pairs(subject), tuple(dict.fromkeys(warnings))
        measurement = Measurement(fingerprint=self.backend.fingerprint(), cases=tuple(rows))
        return measurement, tuple(dict.fromkeys(warnings))


def ask(phase: Phase, subject: Subject) -> TrialFailure | None:
    """The first refusal of a phase's gates."""
    return next(filter(None, (gate.check(subject) for gate in gates_of(phase))), None)


def _passed(phases: Sequence[Phase], refusal: Refusal | None) -> tuple[str, ...]:
    """Names of the gates of the phases, up to the one that refused."""
    names = [gate.name for phase in phases for gate in gates_of(phase)]
    return tuple(names[: names.index(refusal.gate)] if refusal else names)
