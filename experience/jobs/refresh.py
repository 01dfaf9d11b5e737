"""The nightly job: re-verify a sample, retire what no longer holds, rewind what changed, dedupe.

Every finding is stored as soon as it is made, in a transaction of its own, and the sample begins
with what was checked longest ago: a killed job loses nothing, and the next goes on where it was.
"""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Final

from pydantic import Field

from ci.judge.base import Judge
from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.experience import RefreshSettings, RewindSettings
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.proposer.base import Proposer
from experience.bank.bank import Bank, BankStats
from experience.bank.distill import judge
from experience.bank.embed import hashed_words
from experience.bank.patching import Misfit, redo, undo
from experience.bank.tuple import ExperienceTuple, Neighbour
from experience.jobs.rewind import rewind

LOG: Final = logging.getLogger("ascendopt.bank")
NO_LONGER = "no longer holds"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Checked(Frozen):
    """One tuple that was looked at again."""

    id: str
    title: str
    operator: str
    before: float | None = Field(description="Speedup that it was earned with; None: it failed.")
    now: float | None = Field(description="Speedup now; None when a side did not run.")
    verdict: str = Field(description="holds, retired, or why it could not be placed.")


class Refreshed(Frozen):
    """The outcome of a refresh."""

    started: datetime
    finished: datetime
    backend: str
    checked: tuple[Checked, ...]
    useless: tuple[str, ...] = Field(description="Ids retired for uses without a win.")
    duplicates: tuple[str, ...] = Field(description="Ids retired as near-duplicates.")
    rewound: dict[str, int] = Field(description="New tuples by operator that had changed.")
    failed: dict[str, str] = Field(description="Operators that do not pass, and why.")
    passed_over: dict[str, str] = Field(
        default_factory=dict, description="Operators that cannot be judged, and why."
    )
    stats: BankStats


def refresh(
    bank: Bank,
    operators: Sequence[Operator],
    evaluator_of: Callable[[Operator], Judge],
    proposer: Proposer,
    settings: RefreshSettings,
    *,
    commit_of: Callable[[Operator], str] = lambda operator: "",
    on_step: Callable[[str], None] = lambda text: None,
) -> Refreshed:
    """Go over the bank once. Safe to interrupt at any moment and to run again."""
    started = datetime.now(UTC)
    work = _Refresh(bank, operators, evaluator_of, settings, on_step)
    checked = work.check()
    useless = work.retire_useless()
    rewound = work.rewind_changed(proposer, commit_of)
    duplicates = work.retire_duplicates()
    return Refreshed(
        started=started,
        finished=datetime.now(UTC),
        backend=work.backend,
        checked=tuple(checked),
        useless=tuple(useless),
        duplicates=tuple(duplicates),
        rewound=rewound,
        failed=work.failed,
        passed_over=work.passed_over,
        stats=bank.stats(),
    )


class _Refresh:
    def __init__(
        self,
        bank: Bank,
        operators: Sequence[Operator],
        evaluator_of: Callable[[Operator], Judge],
        settings: RefreshSettings,
        on_step: Callable[[str], None],
    ) -> None:
        self.bank, self.settings, self.on_step = bank, settings, on_step
        self.operators = {o.name: o for o in operators}
        self.evaluator_of = evaluator_of
        self.backend = ""
        self.failed: dict[str, str] = {}
        self.passed_over: dict[str, str] = {}
        self._evaluators: dict[str, Judge] = {}
        self._baselines: dict[str, Trial] = {}

    def check(self) -> list[Checked]:
        """Re-verify the sample; each finding is stored before the next is begun."""
        known = [
            t
            for t in self.bank.all()
            if t.status != "retired" and t.operator in self.operators and t.diff
        ]
        known.sort(key=lambda t: (t.checked or _LONG_AGO, t.operator, t.id))
        found = []
        chosen = sorted(known[: self.settings.sample], key=lambda t: (t.operator, t.id))
        self._begin(chosen)
        for one in chosen:
            try:
                checked = self._check(one)
            except EnvironmentProblem:  # the machine's, so that of all operators
                raise
            except Exception as problem:
                checked = self._checked(
                    one, f"not placed: {self._pass_over(one.operator, problem)}"
                )
            found.append(checked)
            self.on_step(f"{one.id} {one.operator}: {checked.verdict}")
        return found

    def _begin(self, chosen: Sequence[ExperienceTuple]) -> None:
        """Let the workers of a pool go through all that will be asked for."""
        for one in chosen:
            operator = self.operators[one.operator]
            try:
                evaluator = self._evaluator(operator)
            except Exception:  # `_check` meets it again
                continue
            for files in _sides(one, operator) or ():
                evaluator.begin(Candidate(files=files))

    def _check(self, one: ExperienceTuple) -> Checked:
        operator = self.operators[one.operator]
        base = self._baseline(operator)
        if base.outcome is not Outcome.OK:
            return self._checked(one, "not placed: the operator itself does not pass")
        sides = _sides(one, operator)
        if sides is None:
            self.bank.stand([(one.id, one.status, "has no place in the sources", _now())])
            return self._checked(one, "not placed: the sources changed where it applies")
        slow, fast = (self._trial(operator, files) for files in sides)
        judgement = judge(slow, fast, self.settings.noise_floor)
        if one.direction == "negative":
            turned = judge(fast, slow, self.settings.noise_floor)
            holds = turned is None or not turned.significant
        else:
            holds = judgement is not None and judgement.significant
        now = judgement.slowdown if judgement else None
        said = f"{now:.3f}x" if now is not None else slow.outcome.value
        if holds:
            self._remeasure(one, slow, fast)
            self.bank.stand([(one.id, "verified", f"{said} again on {self.backend}", _now())])
            return self._checked(one, "holds", now)
        self.bank.stand([(one.id, "retired", f"{NO_LONGER}: {said} on {self.backend}", _now())])
        return self._checked(one, "retired", now)

    def _checked(self, one: ExperienceTuple, verdict: str, now: float | None = None) -> Checked:
        before = one.evidence.speedup if one.evidence.slow_us is not None else None
        return Checked(
            id=one.id, title=one.title, operator=one.operator, before=before, now=now,
            verdict=verdict,
        )  # fmt: skip

    def _pass_over(self, operator: str, problem: Exception) -> str:
        """Note an operator that has no workload, or none that fits: the others go on. So they do
        where one meets a defect, whose own words go to the log."""
        said = str(problem)
        if not isinstance(problem, InputError):
            LOG.error("%s", "".join(traceback.format_exception(problem, limit=-8)))
            said = "it meets a defect of ascendopt itself; the log says where"
        if operator not in self.passed_over:
            self.passed_over[operator] = said
            self.on_step(f"{operator} is passed over: {said}")
        return said

    def _remeasure(self, one: ExperienceTuple, slow: Trial, fast: Trial) -> None:
        """Keep what was measured now as the tuple's evidence."""
        if fast.measurement is None:
            return
        now = one.evidence.model_copy(
            update={
                "slow_us": slow.measurement.score_us if slow.measurement else None,
                "fast_us": fast.measurement.score_us,
                "samples": min(len(c.samples_us) for c in fast.measurement.cases),
                "failure": "" if slow.measurement else slow.outcome.value,
            }
        )
        fingerprint = fast.measurement.fingerprint
        self.bank.remeasure(one.id, now, fingerprint, Neighbour.of(slow), Neighbour.of(fast))

    def retire_useless(self) -> list[str]:
        """Retire what was offered often and never became the best."""
        limit = self.settings.useless_after
        gone = [
            t for t in self.bank.all() if t.status != "retired" and t.uses >= limit and t.wins == 0
        ]
        self.bank.stand(
            [(t.id, "retired", f"{amount(t.uses, 'use')} without a win", None) for t in gone]
        )
        return [t.id for t in gone]

    def rewind_changed(
        self, proposer: Proposer, commit_of: Callable[[Operator], str]
    ) -> dict[str, int]:
        """Rewind operators whose sources differ from those rewound last; new tuples of each."""
        new: dict[str, int] = {}
        for operator in self.operators.values():
            key, digest = f"rewound:{operator.name}", sources_hash(operator)
            if len(new) >= self.settings.rewinds or self.bank.fact(key) == digest:
                continue
            walk = RewindSettings(
                budget=self.settings.budget, noise_floor=self.settings.noise_floor
            )
            try:
                evaluator = self._evaluator(operator)
                self._baseline(operator)  # a golden function may fail as late as here
                self.on_step(f"rewinding {operator.name}")
                commit = commit_of(operator)
                found = rewind(operator, evaluator, proposer, self.bank, walk, commit=commit)
            except EnvironmentProblem:
                raise
            except Exception as problem:
                self._pass_over(operator.name, problem)
                continue
            if found.start.outcome is not Outcome.OK:
                evidence = found.start.refusal
                self.failed[operator.name] = evidence.message if evidence else "does not pass"
                continue
            new[operator.name] = sum(1 for s in found.steps if s.tuple_id and not s.known)
            if not found.stopped:  # noted only when the walk is over: a killed one is done again
                self.bank.note(key, digest)
                continue
            self.on_step(f"no more is rewound: {found.stopped}")
            break
        return new

    def retire_duplicates(self) -> list[str]:
        """Retire near-equal tuples: keep the one with most wins, then with
        the greatest effect."""
        groups: dict[tuple[str, ...], list[ExperienceTuple]] = {}
        for t in self.bank.all():
            if t.status != "retired" and t.diff:
                key = (t.motif_id, t.direction, t.op_family, t.soc)
                groups.setdefault(key, []).append(t)
        news: list[tuple[str, str, str, datetime | None]] = []
        for group in groups.values():
            ranked = sorted(group, key=lambda t: (-t.wins, -t.evidence.speedup, t.id))
            told = {t.id: hashed_words(f"{t.bottleneck}\n{_code(t.diff)}") for t in ranked}
            gone: set[str] = set()
            for kept, other in combinations(ranked, 2):
                alike = float(told[kept.id] @ told[other.id])
                if not {kept.id, other.id} & gone and alike >= self.settings.near:
                    gone.add(other.id)
                    news.append((other.id, "retired", f"near-duplicate of {kept.id}", None))
        self.bank.stand(news)
        return [n[0] for n in news]

    def _evaluator(self, operator: Operator) -> Judge:
        if operator.name not in self._evaluators:
            self._evaluators[operator.name] = self.evaluator_of(operator)
        return self._evaluators[operator.name]

    def _baseline(self, operator: Operator) -> Trial:
        if operator.name not in self._baselines:
            self._baselines[operator.name] = self._evaluator(operator).evaluate(Candidate(), 0)
        base = self._baselines[operator.name]
        if base.measurement is not None:
            fingerprint = base.measurement.fingerprint
            self.backend = f"{fingerprint.backend} {fingerprint.device} {fingerprint.version}"
        elif base.refusal is not None:
            self.failed[operator.name] = base.refusal.message
        return base

    def _trial(self, operator: Operator, files: dict[str, str]) -> Trial:
        if not files:
            return self._baseline(operator)
        return self._evaluator(operator).evaluate(Candidate(files=files, stage="rewind"), 1)


def sources_hash(operator: Operator) -> str:
    """sha256 over all own sources: differs when the operator changed."""
    digest = hashlib.sha256()
    for path, text in sorted(operator.texts().items()):
        digest.update(path.encode() + b"\0" + text.encode() + b"\0")
    return digest.hexdigest()


def _sides(
    one: ExperienceTuple, operator: Operator
) -> tuple[dict[str, str], dict[str, str]] | None:
    """(slow, fast) as changes of the original operator; None when the diff has no place.

    The operator is the fast side where its optimization is in the sources, else the slow one.
    """
    texts = operator.texts()
    for take, slow_first in ((undo, True), (redo, False)):
        try:
            changed = {p: t for p, t in take(one.diff, texts).items() if t != texts[p]}
        except Misfit:
            continue
        return (changed, {}) if slow_first else ({}, changed)
    return None


def _code(diff: str) -> str:
    return "\n".join(
        line[1:]
        for line in diff.splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    )


def _now() -> datetime:
    return datetime.now(UTC)
