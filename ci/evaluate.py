"""Evaluates a candidate: guard → build → host tiling → kernel → verify → measure.

Every candidate gets a `Trial`: with a measurement when all of that went well, else with a named
outcome and its evidence. Only what is wrong with the machine or with the user's own files
(`EnvironmentProblem`, `InputError`) is raised.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from ci.backend.base import Backend, Build, CaseRun
from ci.columns import output_dtypes
from ci.errors import TrialFailure
from ci.guard import guard
from ci.measure import interval, roofline_us
from ci.operator import Operator
from ci.reference import References, arrays, empty_like
from ci.result import Verification
from ci.trial import (
    Candidate,
    CaseMeasurement,
    Evidence,
    Frozen,
    Measurement,
    Outcome,
    Trial,
)
from ci.verify import Compared, compare_outputs
from ci.workload import Workload, WorkloadCase


class EvaluationSettings(Frozen):
    """How candidates are judged."""

    thorough_seeds: int = Field(
        default=3, ge=0, description="Further seeds that the final verification draws inputs from."
    )
    timelines: Path | None = Field(
        default=None,
        description="Folder that takes an instruction timeline (JSON lines) of each case.",
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
        self.operator = operator
        self.workload = workload
        self.backend = backend
        self.settings = settings or EvaluationSettings()
        self.references = References(operator, workload, backend)
        self._known: dict[str, Trial] = {}
        self._written: dict[str, int] = {}
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
        outcome, evidence, measurement, warnings = Outcome.OK, None, None, list[str]()
        try:
            build = self._build(candidate.files)
            measurement, warnings = self._measure(build, files, profile)
            self._verify_seeds(build, self.workload.seeds[1:])
        except TrialFailure as failure:
            outcome, evidence, measurement = failure.outcome, failure.evidence, None
        trial = Trial(
            number=number,
            candidate=candidate,
            outcome=outcome,
            evidence=evidence,
            measurement=measurement,
            seconds=time.monotonic() - started,
            warnings=tuple(dict.fromkeys(warnings)),
        )
        with self._lock:
            self._known.setdefault(key, trial)
        return trial

    def verify_thoroughly(self, candidate: Candidate) -> Verification:
        """Check every case on the workload's seeds and on further ones that no trial has seen.

        Raises TrialFailure with the first case that fails.
        """
        build = self._build(candidate.files)
        last = max(self.workload.seeds)
        fresh = range(last + 1, last + 1 + self.settings.thorough_seeds)
        seeds = (*self.workload.seeds, *fresh)
        found = list(self._verify_seeds(build, seeds))
        return Verification(
            seeds=seeds,
            cases=len(self.workload.cases),
            elements=sum(f.elements for f in found),
            reference=self.references.kind,
            worst_error=max((f.worst_error for f in found), default=0.0),
        )

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
    ) -> tuple[Measurement, list[str]]:
        """Run, verify and time every case on the first seed."""
        rows: list[CaseMeasurement] = []
        warnings: list[str] = []
        for case in self.workload.cases:
            timeline = None
            if profile and self.settings.timelines:
                self.settings.timelines.mkdir(parents=True, exist_ok=True)
                timeline = self.settings.timelines / f"{len(rows)}.jsonl"
            run, _ = self._run(build, case, self.workload.seeds[0], timeline)
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
            warnings += [f"{case.name}: {w}" for w in run.warnings]
        return Measurement(fingerprint=self.backend.fingerprint(), cases=tuple(rows)), warnings

    def _verify_seeds(self, build: Build, seeds: Iterable[int]) -> list[Compared]:
        return [
            self._run(build, case, seed, None)[1] for seed in seeds for case in self.workload.cases
        ]

    def _run(
        self, build: Build, case: WorkloadCase, seed: int, timeline: Path | None
    ) -> tuple[CaseRun, Compared]:
        """Launch once and compare the outputs. Raises TrialFailure when they are wrong."""
        reference = self.references.of(case, seed)
        try:
            run = build.run(
                case, reference.inputs, empty_like(reference.outputs), timeline=timeline
            )
        except TrialFailure as failure:
            raise _in_case(failure, case, seed) from failure
        names = [spec.name for spec in self.operator.outputs]
        found = compare_outputs(
            run.outputs,
            reference.outputs,
            names,
            output_dtypes(self.operator, case),
            self.workload.tolerances,
        )
        if not found.agrees:
            wrong = Evidence(message=found.message, details=found.details)
            raise _in_case(TrialFailure(Outcome.WRONG_RESULT, wrong), case, seed)
        return run, found

    def _check_plausible(self, case: WorkloadCase, run: CaseRun, files: dict[str, str]) -> None:
        """Refuse a candidate that claims what no kernel can do: it deceives the measurement."""
        if not files:
            self._written[case.name] = run.pipes.gm_write_bytes
        needed = min(self._output_bytes(case), self._baseline_written(case))
        if run.pipes.gm_write_bytes < needed:
            raise TrialFailure(
                Outcome.REJECTED,
                Evidence(
                    message=f"case {case.name}: the outputs have {needed} bytes, but the kernel's "
                    f"instructions wrote only {run.pipes.gm_write_bytes}; the rest came past the "
                    "machine.",
                    details="written bytes",
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
                Evidence(
                    message=f"case {case.name}: {min(run.samples_us):.3f} µs is faster than the "
                    f"roofline of {bound:.3f} µs that the device's memory sets.",
                    details="roofline",
                ),
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

    def _baseline_written(self, case: WorkloadCase) -> int:
        """Bytes that the unmodified operator writes to GM: some leave part of an output alone."""
        if case.name not in self._written:
            reference = self.references.of(case, self.workload.seeds[0])
            try:
                run = self.references.unmodified.run(
                    case, reference.inputs, empty_like(reference.outputs)
                )
                self._written[case.name] = run.pipes.gm_write_bytes
            except TrialFailure:
                self._written[case.name] = 0
        return self._written[case.name]


def _in_case(failure: TrialFailure, case: WorkloadCase, seed: int) -> TrialFailure:
    """The failure with the case and seed that showed it in its message, when they matter."""
    if failure.outcome in (Outcome.COMPILE_ERROR, Outcome.REJECTED):
        return failure
    evidence = failure.evidence.model_copy(
        update={"message": f"case {case.name}, seed {seed}: {failure.evidence.message}"}
    )
    return TrialFailure(failure.outcome, evidence)
