"""Evaluates a candidate: guard → build → host tiling → kernel → verify → measure.

Every candidate gets a `Trial`: with a measurement when all of that went well, else with a named
outcome and its evidence. Only what is wrong with the machine or with the user's own files
(`EnvironmentProblem`, `InputError`) is raised.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pydantic import Field

from ci.backend.base import Backend, Build
from ci.judge.admission import new_warning, unordered
from ci.judge.compare_outputs import Compared, compare_outputs
from ci.judge.edges import edge_cases
from ci.judge.guard import guard
from ci.judge.in_place import judged_operator
from ci.judge.measure import Interval, interval, roofline_us
from ci.judge.reference import References, empty_like
from ci.model.columns import output_dtypes
from ci.model.errors import InputError, TrialFailure, in_case
from ci.model.frozen import Frozen
from ci.model.launch import CaseRun, Expected, arrays
from ci.model.operator import Operator
from ci.model.result import Verification
from ci.model.trial import (
    Candidate,
    CaseMeasurement,
    MachineWarning,
    Measurement,
    Outcome,
    Place,
    Refusal,
    Trial,
)
from ci.model.workload import Workload, WorkloadCase
from ci.system.ledger import booked

Launched: TypeAlias = tuple[CaseRun, Compared]
"""A launch that ended well, and how its outputs compare with the golden ones."""

VALUES_SLOWER = 0.10
"""What a candidate may lose on other values than those it was measured on."""


class EvaluationSettings(Frozen):
    """How candidates are judged."""

    thorough_seeds: int = Field(
        default=3, ge=0, description="Further seeds that the final verification draws inputs from."
    )
    edge_cases: int = Field(
        default=10,
        ge=0,
        description="Most edge cases (lengths, non-finite values, other dtypes) of the final"
        " verification.",
    )
    timelines: Path | None = Field(
        default=None,
        description="Folder that takes an instruction timeline (JSON lines) of each case.",
    )
    jobs: int = Field(
        default=1, ge=1, description="Cases that are built and run side by side; same results."
    )


class Evaluator:
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
        self.settings = settings or EvaluationSettings()
        self.references = References(operator, workload, backend)
        self._known: dict[str, Trial] = {}
        self._edges: dict[str, str | None] = {}
        self._elsewhere: Callable[[Candidate], str] | None = None
        self._lock = threading.Lock()

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial. An equal program evaluated before is answered from memory, `cached`."""
        files = self._changed(candidate)
        key = Candidate(files=files).hash
        with self._lock:
            known = self._known.get(key)
        if known and not profile:
            return known.model_copy(
                update={"number": number, "candidate": candidate, "cached": True, "seconds": 0.0}
            )
        started = time.monotonic()
        outcome, refusal, measurement, warnings = Outcome.OK, None, None, list[MachineWarning]()
        try:
            build = self._build(candidate.files)
            first, *others = self.workload.seeds
            with self._expecting(build, [first]):
                measurement, warnings = self._measure(build, files, profile)
            with self._expecting(build, others):
                self._verify_seeds(build, others)
        except TrialFailure as failure:
            outcome, refusal, measurement = failure.outcome, failure.refusal, None
        trial = Trial(
            number=number,
            candidate=candidate,
            outcome=outcome,
            refusal=refusal,
            measurement=measurement,
            seconds=time.monotonic() - started,
            warnings=tuple(dict.fromkeys(warnings)),
        )
        with self._lock:
            self._known.setdefault(key, trial)
        return trial

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """The trial as it may be inherited or reported, or with outcome `unfit` and its refusal.

        `parent` is what the candidate was made from, `baseline` the operator as it stands;
        `without` names gates that are not asked. Costs launches, but none of a gate that the
        trial has passed already.
        """
        if trial.outcome is not Outcome.OK:
            return trial
        asked: tuple[tuple[str, Callable[[], Refusal | None]], ...] = (
            ("warnings", partial(_warned, trial, baseline)),
            ("unordered", partial(_unordered, trial, parent)),
            ("other_shapes", partial(self._other_shapes, trial.candidate)),
        )
        for name, check in asked:
            if name in without or name in trial.gates:
                continue
            refusal = check()
            if refusal is not None:
                refusal = refusal.model_copy(update={"gate": name})
                return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refusal})
            trial = trial.model_copy(update={"gates": (*trial.gates, name)})
        return trial

    def _other_shapes(self, candidate: Candidate) -> Refusal | None:
        from ci.judge.other_shapes import OtherShapes

        if self._elsewhere is None:
            self._elsewhere = OtherShapes(self.operator, self.workload, self.backend).fault
        fault = self._elsewhere(candidate)
        return Refusal(sentence=fault) if fault else None

    def confirm(self, trial: Trial) -> Verification:
        """Check every case on the workload's seeds and on further ones that no trial has seen.

        The further seeds follow from the candidate's own text, so that no candidate can hold the
        answers for them. Raises TrialFailure with the first case that fails, or that is slower on
        them than on the seed it was measured on.
        """
        candidate = trial.candidate
        build = self._build(candidate.files)
        seeds = (*self.workload.seeds, *self._fresh_seeds(candidate))
        places = [(seed, case) for seed in seeds for case in self.workload.cases]
        answers = self._in_order([partial(self._run, build, c, s, None) for s, c in places])
        runs = {(s, c.name): answer for (s, c), answer in zip(places, answers, strict=True)}
        for case in self.workload.cases:
            times = {seed: interval(runs[seed, case.name][0].samples_us) for seed in seeds}
            self._check_steady(case, times)
        found = [compared for _, compared in runs.values()]
        edges, defects = self._verify_edges(build)
        return Verification(
            seeds=seeds,
            cases=len(self.workload.cases),
            elements=sum(f.elements for f in found),
            reference=self.references.kind,
            worst_error=max((f.worst_error for f in found), default=0.0),
            edge_cases=edges,
            baseline_defects=defects,
        )

    def _verify_edges(self, build: Build) -> tuple[int, tuple[str, ...]]:
        """How many edge cases were passed, and what the operator as it stands does wrong on others.

        A case that the unmodified operator does not take is passed over, one that it gets wrong is
        reported and not held against the candidate. Raises TrialFailure with the first case that
        only the candidate fails.
        """
        passed, defects = 0, list[str]()
        seed = self.workload.seeds[0]
        for case in edge_cases(self.operator, self.workload, self.settings.edge_cases):
            defect = self._baseline_at(case, seed)
            if defect is None:
                continue
            if defect:
                defects.append(defect)
                continue
            self._run(build, case, seed, None)
            passed += 1
        return passed, tuple(defects)

    def _baseline_at(self, case: WorkloadCase, seed: int) -> str | None:
        """'' when the unmodified operator passes an edge case, None when it does not take it, else
        what it does wrong."""
        if case.name not in self._edges:
            try:
                self._run(self.references.unmodified, case, seed, None)
                self._edges[case.name] = ""
            except InputError:  # the golden function does not take it
                self._edges[case.name] = None
            except TrialFailure as failure:
                refused = failure.outcome in (Outcome.LAUNCH_ERROR, Outcome.COMPILE_ERROR)
                said = None if refused else f"{failure.outcome.value}: {failure.refusal.message}"
                self._edges[case.name] = said
        return self._edges[case.name]

    def _fresh_seeds(self, candidate: Candidate) -> list[int]:
        """Seeds that differ from candidate to candidate; equal candidates get equal ones."""
        text = Candidate(files=self._changed(candidate)).hash
        seeds: list[int] = []
        number = 0
        while len(seeds) < self.settings.thorough_seeds:
            drawn = hashlib.sha256(f"{text} {number}".encode()).digest()
            seed = int.from_bytes(drawn[:4], "big")
            number += 1
            if seed not in (*self.workload.seeds, *seeds):
                seeds.append(seed)
        return seeds

    def _check_steady(self, case: WorkloadCase, times: Mapping[int, Interval]) -> None:
        """Refuse a candidate that is fast for the values it was measured on and slow for others.

        An operator may need more time for some values than for others: then the candidate must
        not lose more on them than the unmodified one.
        """
        measured = times[self.workload.seeds[0]]
        for seed, time_of_seed in times.items():
            if time_of_seed.low <= measured.high * (1 + VALUES_SLOWER):
                continue
            before = self._unmodified_us(case, self.workload.seeds[0])
            now = self._unmodified_us(case, seed)
            if time_of_seed.low <= measured.high * (1 + VALUES_SLOWER) * now.high / before.low:
                continue
            raise TrialFailure(
                Outcome.REJECTED,
                Refusal(
                    place=Place(case=case.name, seed=seed),
                    sentence=(
                        f"it takes {measured.median:.3f} µs with the values "
                        f"it was measured on (seed {self.workload.seeds[0]}), but "
                        f"{time_of_seed.median:.3f} µs with those of seed {seed}; the operator as "
                        f"it stands takes {before.median:.3f} and {now.median:.3f} µs."
                    ),
                    evidence="depends on values",
                ),
            )

    def _unmodified_us(self, case: WorkloadCase, seed: int) -> Interval:
        reference = self.references.of(case, seed)
        run = self.references.unmodified.run(case, reference.inputs, empty_like(reference.outputs))
        return interval(run.samples_us)

    def _changed(self, candidate: Candidate) -> dict[str, str]:
        """The candidate's files without those that equal the operator's own text."""
        own = {*self.operator.host_sources, *self.operator.kernel_sources}
        return {
            f: t for f, t in candidate.files.items() if f not in own or self.operator.read(f) != t
        }

    def _build(self, files: dict[str, str]) -> Build:
        refused = guard(self.operator, files)
        if refused:
            raise TrialFailure(Outcome.REJECTED, refused)
        return self.backend.build(self.operator, files, self.workload)

    def _measure(
        self, build: Build, files: dict[str, str], profile: bool
    ) -> tuple[Measurement, list[MachineWarning]]:
        """Run, verify and time every case on the first seed."""
        rows: list[CaseMeasurement] = []
        warnings: list[MachineWarning] = []
        seed, folder = self.workload.seeds[0], self.settings.timelines if profile else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        runs = self._in_order(
            [
                partial(self._run, build, case, seed, folder and folder / f"{number}.jsonl")
                for number, case in enumerate(self.workload.cases)
            ]
        )
        for case, (run, _) in zip(self.workload.cases, runs, strict=True):
            self._check_plausible(case, run, files)
            found = interval(run.samples_us)
            rows.append(
                CaseMeasurement(
                    case=case.name,
                    samples_us=run.samples_us,
                    median_us=found.median,
                    low_us=found.low,
                    high_us=found.high,
                    tiling_key=run.tiling_key,
                    pipes=run.pipes,
                )
            )
            warnings += [
                w.model_copy(update={"place": w.place.model_copy(update={"case": case.name})})
                for w in run.warnings
            ]
        return Measurement(fingerprint=self.backend.fingerprint(), cases=tuple(rows)), warnings

    def _verify_seeds(self, build: Build, seeds: Iterable[int]) -> list[Compared]:
        asked = [
            partial(self._run, build, case, seed, None)
            for seed in seeds
            for case in self.workload.cases
        ]
        return [compared for _, compared in self._in_order(asked)]

    def _expecting(self, build: Build, seeds: Iterable[int]) -> AbstractContextManager[None]:
        """Tell the build which launches follow, as far as their inputs are there."""
        known = [
            (case, self.references.known(case, seed))
            for seed in seeds
            for case in self.workload.cases
        ]
        return build.expecting([Expected(c, r.inputs, r.outputs) for c, r in known if r])

    def _in_order(self, asked: Sequence[Callable[[], Launched]]) -> Iterator[Launched]:
        """What the calls answer, in order, up to `jobs` of them at a time.

        The failure of the first call that fails is raised, whichever failed sooner, so that the
        trial is the same with any number of jobs.
        """
        if self.settings.jobs == 1:
            yield from (call() for call in asked)
            return
        with ThreadPoolExecutor(self.settings.jobs, "case") as threads:
            futures = [threads.submit(call) for call in asked]
            try:
                yield from (future.result() for future in futures)
            finally:
                for future in futures:
                    future.cancel()

    def _run(
        self, build: Build, case: WorkloadCase, seed: int, timeline: Path | None
    ) -> tuple[CaseRun, Compared]:
        """Launch once and compare the outputs. Raises TrialFailure when they are wrong."""
        with booked("verify"):
            reference = self.references.of(case, seed)
        try:
            run = build.run(
                case, reference.inputs, empty_like(reference.outputs), timeline=timeline
            )
        except TrialFailure as failure:
            raise in_case(failure, case.name, seed) from failure
        names = [spec.name for spec in self.operator.outputs]
        with booked("verify"):
            found = compare_outputs(
                run.outputs,
                reference.outputs,
                names,
                output_dtypes(self.operator, case),
                self.workload.tolerances,
            )
        if not found.agrees:
            wrong = Refusal(sentence=found.message, evidence=found.details)
            raise in_case(TrialFailure(Outcome.WRONG_RESULT, wrong), case.name, seed)
        return run, found

    def _check_plausible(self, case: WorkloadCase, run: CaseRun, files: dict[str, str]) -> None:
        """Refuse a candidate that claims what no kernel can do: it deceives the measurement."""
        if not files:
            self.references.moved[case.name] = (run.pipes.gm_read_bytes, run.pipes.gm_write_bytes)
        baseline_read, baseline_written = self._baseline_moved(case)
        needed = min(self._output_bytes(case), baseline_written)
        if run.pipes.gm_write_bytes < needed:
            raise TrialFailure(
                Outcome.REJECTED,
                Refusal(
                    place=Place(case=case.name),
                    sentence=(
                        f"the outputs have {needed} bytes, but the kernel's "
                        f"instructions wrote only {run.pipes.gm_write_bytes}; the rest came past "
                        "the machine."
                    ),
                    evidence="written bytes",
                ),
            )
        inputs = self._input_bytes(case)
        if baseline_read >= inputs > run.pipes.gm_read_bytes:
            raise TrialFailure(
                Outcome.REJECTED,
                Refusal(
                    place=Place(case=case.name),
                    sentence=(
                        f"the inputs have {inputs} bytes, and the operator "
                        "as it stands reads them all, but the candidate's instructions read only "
                        f"{run.pipes.gm_read_bytes}; the rest came past the machine."
                    ),
                    evidence="read bytes",
                ),
            )
        bound = roofline_us(
            self.backend.fingerprint().device,
            run.pipes.gm_read_bytes,
            max(needed, run.pipes.gm_write_bytes),
        )
        if min(run.samples_us) < bound:
            raise TrialFailure(
                Outcome.REJECTED,
                Refusal(
                    place=Place(case=case.name),
                    sentence=(
                        f"{min(run.samples_us):.3f} µs is faster than the "
                        f"roofline of {bound:.3f} µs that the device's memory sets."
                    ),
                    evidence="roofline",
                ),
            )

    def _input_bytes(self, case: WorkloadCase) -> int:
        return sum(
            a.nbytes for a in arrays(self.references.of(case, self.workload.seeds[0]).inputs)
        )

    def _output_bytes(self, case: WorkloadCase) -> int:
        """Bytes of the outputs that are not also inputs (those may be left as they are)."""
        shared = {spec.name for spec in self.operator.inputs}
        outputs = self.references.of(case, self.workload.seeds[0]).outputs
        fresh = [
            tensor
            for spec, tensor in zip(self.operator.outputs, outputs, strict=True)
            if spec.name not in shared
        ]
        return sum(a.nbytes for a in arrays(fresh))

    def _baseline_moved(self, case: WorkloadCase) -> tuple[int, int]:
        """Bytes that the unmodified operator reads from GM and writes to it: some leave part of
        an input or output alone."""
        if case.name not in self.references.moved:
            reference = self.references.of(case, self.workload.seeds[0])
            try:
                run = self.references.unmodified.run(
                    case, reference.inputs, empty_like(reference.outputs)
                )
                self.references.moved[case.name] = (
                    run.pipes.gm_read_bytes,
                    run.pipes.gm_write_bytes,
                )
            except TrialFailure:
                self.references.moved[case.name] = (0, 0)
        return self.references.moved[case.name]


def _warned(trial: Trial, baseline: Trial) -> Refusal | None:
    found = new_warning(trial.warnings, baseline.warnings)
    if found is None:
        return None
    return Refusal(place=found.place, sentence=found.text, evidence=found.kind)


def _unordered(trial: Trial, parent: Trial) -> Refusal | None:
    fault = unordered(trial, parent)
    return Refusal(sentence=fault) if fault else None
