"""An evaluator whose answers are kept in a file, for runs that ask the same of one operator.

Only where equal questions have equal answers: on the simulator. A run is none the wiser: it spends
its budget on what was answered before as on anything else.
"""

from __future__ import annotations

import resource
import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from pydantic import TypeAdapter

from ci.judge.base import Judge
from ci.model.errors import TrialFailure
from ci.model.frozen import Frozen
from ci.model.result import Verification
from ci.model.trial import Candidate, Fingerprint, Outcome, Refusal, Trial
from ci.system.cache import digest

_BUSY_S: Final = 60.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS answers (
  question TEXT PRIMARY KEY, answer TEXT NOT NULL, wall REAL NOT NULL, cpu REAL NOT NULL
)
"""

T = TypeVar("T")
Members: TypeAlias = dict[str, dict[str, float]]


class _Failed(Frozen):
    """A TrialFailure as data."""

    outcome: Outcome
    refusal: Refusal


_PROGRAM: Final[TypeAdapter[str | _Failed]] = TypeAdapter(str | _Failed)
_TRIAL: Final[TypeAdapter[Trial | _Failed]] = TypeAdapter(Trial | _Failed)
_CONFIRMED: Final[TypeAdapter[Verification | _Failed]] = TypeAdapter(Verification | _Failed)
_MEMBERS: Final[TypeAdapter[Members | _Failed]] = TypeAdapter(Members | _Failed)


class RememberedEvaluator(Judge):
    """Answers as the evaluator does, once for all runs that share the file."""

    def __init__(self, evaluator: Judge, file: Path) -> None:
        """`file` is for this operator, workload, machine and these settings alone: the caller
        names it so. Raises ValueError for hardware, whose times scatter."""
        if not evaluator.fingerprint().simulated:
            raise ValueError("times that scatter are not to be remembered")
        self._evaluator = evaluator
        self._db = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(_SCHEMA)
        self.spared_wall = 0.0
        """Seconds that the answers took which were there already, when they were found."""
        self.spared_cpu = 0.0
        """The same, of processors."""

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    def load(self) -> None:
        """Load the golden, so that what is wrong with it is said before anything is built."""
        self._evaluator.load()

    def fingerprint(self) -> Fingerprint:
        """Which device and which versions give the figures."""
        return self._evaluator.fingerprint()

    def program(self, candidate: Candidate) -> str:
        """Answer as the wrapped evaluator."""
        return self._answer(
            ["program", candidate.hash], _PROGRAM, lambda: self._evaluator.program(candidate)
        )

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """Answer as the wrapped evaluator."""
        if profile:
            return self._evaluator.evaluate(candidate, number, profile=True)
        trial = self._answer(
            ["evaluate", candidate.hash],
            _TRIAL,
            lambda: self._evaluator.evaluate(candidate, number),
        )
        own = {"number": number, "candidate": candidate, "cached": False}
        return trial.model_copy(update=own)

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """Answer as the wrapped evaluator."""
        of = [
            part
            for one in (trial, parent, baseline)
            for part in (one.candidate.hash, one.outcome, *one.gates, _figures(one))
        ]
        found = self._answer(
            ["admit", *of, "without", *sorted(without)],
            _TRIAL,
            lambda: self._evaluator.admit(trial, parent, baseline, without=without),
        )
        judged = {"outcome": found.outcome, "refusal": found.refusal, "gates": found.gates}
        return trial.model_copy(update=judged)

    def confirm(self, trial: Trial) -> Verification:
        """Answer as the wrapped evaluator."""
        return self._answer(
            ["confirm", trial.candidate.hash],
            _CONFIRMED,
            lambda: self._evaluator.confirm(trial),
        )

    def members_us(self, candidate: Candidate) -> Members:
        """Answer as the wrapped evaluator."""
        return self._answer(
            ["members", candidate.hash],
            _MEMBERS,
            lambda: self._evaluator.members_us(candidate),
        )

    def _answer(
        self, question: list[str], told: TypeAdapter[T | _Failed], find: Callable[[], T]
    ) -> T:
        """What is known, or what is found now; a failure is an answer too."""
        name = digest(question)
        row = self._db.execute(
            "SELECT answer, wall, cpu FROM answers WHERE question = ?", (name,)
        ).fetchone()
        if row is not None:
            answer = told.validate_json(row[0])
            self.spared_wall += row[1]
            self.spared_cpu += row[2]
        else:
            began, used = time.monotonic(), _cpu_seconds()
            try:
                answer = find()
            except TrialFailure as failure:
                answer = _Failed(outcome=failure.outcome, refusal=failure.refusal)
            self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)",
                (
                    name,
                    told.dump_json(answer).decode(),
                    time.monotonic() - began,
                    _cpu_seconds() - used,
                ),
            )
        if isinstance(answer, _Failed):
            raise TrialFailure(answer.outcome, answer.refusal)
        return answer


def _figures(trial: Trial) -> str:
    return trial.measurement.model_dump_json() if trial.measurement is not None else ""


def _cpu_seconds() -> float:
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
