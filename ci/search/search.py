"""The state of one run: history, best pair, budget; evaluates, records and inherits.

A recorded trial is taken from the store instead of being evaluated again: proposals are a pure
function of seed and history, so a resumed run asks for the same candidates in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, Protocol

from ci.model.budget import Budget
from ci.model.comparison import STEP_EFFECT, compare
from ci.model.errors import InputError
from ci.model.notice import Notice, NoticeKind
from ci.model.result import Verification
from ci.model.trial import Candidate, Evidence, Outcome, Trial
from ci.system.trial_store import TrialStore

Stage = Literal["baseline", "tiling", "kernel"]


INSERTED_SLACK = 0.1
"""Inserted waits go with the number of tiles; their share moves by this much with the tails."""


class Evaluates(Protocol):
    """The part of the evaluator that the search needs."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial of the candidate."""

    def verify_thoroughly(self, candidate: Candidate) -> Verification:
        """More seeds than a trial takes; raises `TrialFailure` when the candidate fails one."""


class Search:
    """One run of Algorithm 1 over an evaluator, a budget and a trial store."""

    def __init__(
        self,
        evaluator: Evaluates,
        budget: Budget,
        store: TrialStore,
        on_notice: Callable[[Notice], None],
        elsewhere: Callable[[Candidate], str] = lambda candidate: "",
    ) -> None:
        """`elsewhere` says what a candidate does wrong on shapes outside the workload."""
        self.evaluator = evaluator
        self.budget = budget
        self.store = store
        self.history: list[Trial] = []
        self.round = 0
        self.stage: Stage = "baseline"
        self._on_notice = on_notice
        self._elsewhere = elsewhere
        self._recorded = {t.number: t for t in store.trials()}
        self._best: Trial | None = None

    @property
    def baseline(self) -> Trial:
        """Trial 0; `measure_baseline` must have run."""
        return self.history[0]

    @property
    def best(self) -> Trial:
        """The trial whose pair ⟨T, K⟩ the next candidate is made from."""
        return self._best or self.history[0]

    @property
    def replaying(self) -> bool:
        """Whether the next trial is already recorded by the run that is being resumed."""
        return len(self.history) in self._recorded

    def measure_baseline(self) -> Trial:
        """Trial 0: the operator as it stands."""
        trial = self.attempt(Candidate())
        if trial is None:
            raise InputError("The budget does not cover the evaluation of the baseline.")
        return trial

    def attempt(self, candidate: Candidate, *, least: float = 1 + STEP_EFFECT) -> Trial | None:
        """Evaluate, record and, when it is faster, inherit. None: the budget is spent.

        It is inherited when its parent's time over its own is above `least`. A candidate equal to
        an earlier one is answered from that one and costs nothing. Every failed candidate is
        recorded and is nobody's parent.
        """
        number = len(self.history)
        earlier = next((t for t in self.history if t.candidate.hash == candidate.hash), None)
        if earlier is not None:
            return self._keep(
                earlier.model_copy(
                    update={
                        "number": number,
                        "candidate": candidate,
                        "cached": True,
                        "seconds": 0.0,
                    }
                )
            )
        if not self.budget.reserve():
            return None
        self.tell("trial_started", number=number, text=candidate.rationale)
        recorded = self._recorded.get(number)
        if recorded is None:
            trial = self.evaluator.evaluate(candidate, number)
            trial = trial.model_copy(update={"cached": False})
            return self._keep(self._checked(trial, least), least)
        if recorded.candidate != candidate:
            raise InputError(
                f"Trial {number} in {self.store.path} is of another candidate than this run "
                "proposes: the bank, the rules or the program changed since; use another --out."
            )
        return self._keep(recorded, least)

    def refuse(self, candidate: Candidate, message: str) -> Trial:
        """Record a candidate that broke the rules of its stage; it costs no evaluation."""
        return self._keep(
            Trial(
                number=len(self.history),
                candidate=candidate,
                outcome=Outcome.REJECTED,
                evidence=Evidence(message=message),
            )
        )

    def tell(
        self, kind: NoticeKind, *, number: int = 0, trial: Trial | None = None, text: str = ""
    ) -> None:
        """Let the onlookers know."""
        use = self.budget.use()
        self._on_notice(
            Notice(
                kind=kind,
                number=number,
                stage=self.stage,
                round=self.round,
                trial=trial,
                best_us=_score(self.best) if self.history else None,
                baseline_us=_score(self.baseline) if self.history else None,
                spent=use.evaluations,
                granted=use.granted,
                text=text,
            )
        )

    def won(self, trial: Trial) -> bool:
        """Whether this trial is the best so far."""
        return self._best is not None and self._best.number == trial.number

    def _checked(self, trial: Trial, least: float) -> Trial:
        """A trial that would be inherited, with a warning when it fails on other shapes."""
        if not trial.number or not self._better(trial, least):
            return trial
        fault = self._unordered(trial) or self._elsewhere(trial.candidate)
        return trial.model_copy(update={"warnings": (*trial.warnings, fault)}) if fault else trial

    def _unordered(self, trial: Trial) -> str:
        """What a kernel step leaves to automatic synchronisation that its parent orders itself.

        A flag or barrier whose place the compiler fills again was needed: dropping it saves
        nothing in truth, and breaks where the operator is built without that option.
        """
        if self.stage != "kernel":
            return ""
        before, after = _inserted(self.best), _inserted(trial)
        limit = 1 + INSERTED_SLACK
        shares = (before[0] / before[1], after[0] / after[1])
        # More waits for more tiles is no fault, nor are as many waits for fewer instructions.
        if after[0] <= before[0] * limit or shares[1] <= shares[0] * limit:
            return ""
        return (
            f"it leaves {shares[1]:.2f} waits an instruction to automatic synchronisation, "
            f"its parent {shares[0]:.2f}"
        )

    def _keep(self, trial: Trial, least: float = 1 + STEP_EFFECT) -> Trial:
        if trial.number not in self._recorded:
            self.store.append(trial)
        self.history.append(trial)
        if trial.number and not trial.cached and self._better(trial, least):
            self._best = trial
        warning = self.new_warning(trial)
        text = f"Not inherited: {warning}" if warning else _sentence(trial)
        self.tell("trial_finished", number=trial.number, trial=trial, text=text)
        return trial

    def new_warning(self, trial: Trial) -> str:
        """A warning of the machine that the baseline does not give; '' when there is none.

        Such a candidate passed, but asks for more UB than there is, writes into padding, or
        fails on other shapes: it is kept as a trial and neither inherited nor reported.
        """
        known = {_kind(w) for w in self.baseline.warnings}
        return next((w for w in trial.warnings if _kind(w) not in known), "")

    def _better(self, trial: Trial, least: float) -> bool:
        if self.new_warning(trial):
            return False
        if trial.measurement is None or self.best.measurement is None:
            return False
        if self.baseline.measurement is None:
            return False
        step = compare(self.best.measurement, trial.measurement, STEP_EFFECT)
        whole = compare(self.baseline.measurement, trial.measurement)
        return step.low > least and whole.verdict != "worse"


def _kind(warning: str) -> str:
    """A warning without its case, numbers and names: equal for warnings of one kind."""
    message = warning.partition(": ")[2] or warning
    return re.sub(r"0x[0-9a-f]+|\d+|\([^)]*\)|[\w./]+\.\w+", "#", message)


def _inserted(trial: Trial) -> tuple[int, int]:
    """Waits that automatic synchronisation inserted; copy and vector instructions."""
    if trial.measurement is None:
        return 0, 1
    pipes = [c.pipes for c in trial.measurement.cases]
    work = sum(
        n for p in pipes for name, n in p.instructions.items() if name.startswith(("v", "copy"))
    )
    return sum(p.inserted_waits for p in pipes), max(1, work)


def _score(trial: Trial) -> float | None:
    return trial.measurement.score_us if trial.measurement else None


def _sentence(trial: Trial) -> str:
    if trial.measurement is not None:
        return trial.candidate.rationale or f"{trial.measurement.score_us:.2f} µs"
    return trial.evidence.message if trial.evidence else trial.outcome.value
