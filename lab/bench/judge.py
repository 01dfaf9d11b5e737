"""The judge against a corpus: wrong candidates must be refused, and honest ones must not.

Each candidate goes the way of a run's: the baseline, one trial, admission, the final check, and the
verdict of the same code that ends a run. One that only lacks a gain is asked every gate as well:
that it was not faster is luck.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.judge.base import Judge
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.model.comparison import SLOWER
from ci.model.errors import InputError, TrialFailure
from ci.model.operator import Operator
from ci.model.result import Result, Verification
from ci.model.trial import Candidate, Fingerprint, Refusal, Trial
from ci.model.workload import WorkloadCase
from ci.search.reverify import reverify
from ci.system.program import program_digest
from ci.system.row_file import RowFile
from lab.bench.corpus import (
    Entry,
    Operators,
    candidate_of,
    chosen,
    read_corpus,
    witnesses_of,
    workload_of,
)
from lab.bench.mutants import shown_wrong
from lab.model.judge import JudgeBench, JudgeBenchSettings, Ruling, Verdict

RULINGS_FILE: Final = "rulings.jsonl"


def bench(settings: JudgeBenchSettings, tell: Callable[[str], None]) -> JudgeBench:
    """Judge the candidates that `settings` ask for. Resumable from its folder `out`.

    Raises InputError for a corpus that cannot be read; a candidate that fits no operator, or whose
    operator does not pass its own workload, is among `unusable`.
    """
    entries = chosen(read_corpus(settings.attacks), settings)
    operators = Operators(settings.operators)
    path = None if settings.out is None else settings.out / RULINGS_FILE
    record = RowFile(path, Ruling, lambda ruling: ruling.key)
    work: dict[Path, tuple[Operator, list[Entry]]] = {}
    found: dict[str, Ruling] = {}
    unusable: list[str] = []
    for entry in entries:
        try:
            operator = operators.find(entry)
        except InputError as problem:
            unusable.append(str(problem))
        else:
            work.setdefault(operator.root, (operator, []))[1].append(entry)
    backend = make_backend("sim", settings.device)

    def judge(operator: Operator, mine: list[Entry]) -> None:
        court = _Court(operator, backend, record)
        for entry in mine:
            try:
                ruling = court.rule(entry)
            except InputError as problem:
                unusable.append(str(problem))
                tell(str(problem))
            else:
                found[entry.attack.id] = ruling
                tell(f"{len(found)} of {len(entries)}: {_line(ruling)}")

    with ThreadPoolExecutor(settings.jobs, "judge") as pool:
        longest_first = sorted(work.values(), key=lambda w: -len(w[1]))
        for done in [pool.submit(judge, *one) for one in longest_first]:
            done.result()
    rulings = tuple(found[e.attack.id] for e in entries if e.attack.id in found)
    return JudgeBench(rulings=rulings, unusable=tuple(unusable))


class _Court:
    """Judges the candidates of one operator; what its baseline needs is made once."""

    def __init__(self, operator: Operator, backend: Backend, record: RowFile[str, Ruling]) -> None:
        self.operator = operator
        self.record = record
        self.workload = workload_of(operator)
        self.evaluator = Evaluator(operator, self.workload, backend)
        stand = (operator.texts(), self.workload.model_dump_json(exclude={"folder"}))
        self._identity = f"{program_digest()} {backend.fingerprint()} {stand}"

    def rule(self, entry: Entry) -> Ruling:
        """The ruling, from the record when it is there. Raises InputError."""
        candidate = candidate_of(entry, self.operator)
        witnesses = witnesses_of(entry, self.operator)
        text = f"{self._identity} {entry.attack.model_dump_json()}"
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        known = self.record.rows.get(key)
        if known is not None:
            return known
        ruling = self._judged(entry, candidate, witnesses).model_copy(update={"key": key})
        self.record.add(ruling)
        return ruling

    def _judged(
        self, entry: Entry, candidate: Candidate, witnesses: Sequence[WorkloadCase]
    ) -> Ruling:
        started = time.monotonic()
        asked = _Asked(self.evaluator)
        with tempfile.TemporaryDirectory(prefix="ascendopt-") as folder:
            result = reverify(self.operator, asked, Candidate(files=candidate.files), Path(folder))
        if result.verdict == "baseline_failed":
            raise entry.wrong(f"cannot be judged: {result.verdict_reason.rstrip('.')}")
        verdict, refusal = self._verdict(result, asked)
        attack = entry.attack
        shown = ""
        if attack.truth == "wrong" and verdict != "refused" and witnesses:
            subject = self.evaluator.subject(candidate)
            tried = (shown_wrong(subject, case) or _slower(subject, case) for case in witnesses)
            shown = next(filter(None, tried), "the witness shows nothing")
        return Ruling(
            id=attack.id,
            kind=attack.kind,
            operator=attack.operator,
            what=attack.what,
            truth=attack.truth,
            verdict=verdict,
            gate=refusal.gate if refusal else "",
            sentence=refusal.message if refusal else "",
            speedup=result.speedup if result.verdict == "improved" else None,
            witness=shown,
            seconds=round(time.monotonic() - started, 1),
        )

    def _verdict(self, result: Result, asked: _Asked) -> tuple[Verdict, Refusal | None]:
        if result.verdict == "improved":
            return "accepted", None
        baseline, trial, *_ = result.trials  # what it tried without an edit comes behind
        if trial.refusal is None and asked.refusal is None:  # it lacks a gain: would it pass?
            trial = asked.admit(trial, baseline, baseline)
            if trial.refusal is None:
                try:
                    asked.confirm(trial)
                except TrialFailure as failure:
                    return "refused", failure.refusal
        refusal = trial.refusal or asked.refusal
        return ("refused", refusal) if refusal else ("no gain", None)


class _Asked(Judge):
    """An evaluator that remembers why the final check refused."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator.anew()
        self.refusal: Refusal | None = None

    def fingerprint(self) -> Fingerprint:
        """Answer as the wrapped evaluator."""
        return self._evaluator.fingerprint()

    def program(self, candidate: Candidate) -> str:
        """Answer as the wrapped evaluator."""
        return self._evaluator.program(candidate)

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """Answer as the wrapped evaluator."""
        return self._evaluator.evaluate(candidate, number, profile=profile)

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """Answer as the wrapped evaluator."""
        return self._evaluator.admit(trial, parent, baseline, without=without)

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """Answer as the wrapped evaluator."""
        return self._evaluator.members_us(candidate)

    def confirm(self, trial: Trial) -> Verification:
        """Answer as the wrapped evaluator."""
        try:
            return self._evaluator.confirm(trial)
        except TrialFailure as failure:
            self.refusal = failure.refusal
            raise


def _slower(subject: Subject, case: WorkloadCase) -> str:
    """How much longer a candidate takes on a case than the original operator; '' if not."""
    seed = subject.standard.workload.seeds[0]
    before, after = subject.standard.baseline.at(case, seed).time, subject.at(case, seed)
    if after.failure or after.launched.time.low <= before.high * (1 + SLOWER):
        return ""
    took = after.launched.time.median
    return f"it takes {took:.3f} µs where the original operator takes {before.median:.3f}"


def _line(ruling: Ruling) -> str:
    why = f" by {ruling.gate}: {ruling.sentence}" if ruling.gate else ""
    return f"{ruling.id} ({ruling.truth}): {ruling.verdict}{why}"[:200]
