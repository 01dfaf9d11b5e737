"""The state of one run: history, best pair, budget; evaluates, records and inherits.

A recorded trial is taken from the store instead of being evaluated again: proposals are a pure
function of seed and history, so a resumed run asks for the same candidates in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, Protocol

from ci.model.budget import Budget
from ci.model.comparison import STEP_EFFECT, compare
from ci.model.errors import InputError
from ci.model.notice import Notice, NoticeKind
from ci.model.result import Verification
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.system.trial_store import TrialStore

Stage = Literal["baseline", "tiling", "kernel"]


class Evaluates(Protocol):
    """The part of the evaluator that the search needs."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial of the candidate."""

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """The trial, or the same with outcome `unfit` when it may not be inherited or reported."""

    def confirm(self, trial: Trial) -> Verification:
        """The final check of a trial; raises `TrialFailure` when it fails there."""


class Search:
    """One run of Algorithm 1 over an evaluator, a budget and a trial store."""

    def __init__(
        self,
        evaluator: Evaluates,
        budget: Budget,
        store: TrialStore,
        on_notice: Callable[[Notice], None],
        without: Collection[str] = (),
    ) -> None:
        """`without` names gates of admission that are not asked."""
        self.evaluator = evaluator
        self.budget = budget
        self.store = store
        self.history: list[Trial] = []
        self.round = 0
        self.stage: Stage = "baseline"
        self._on_notice = on_notice
        self._without = without
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
            if number and self._better(trial, least):
                trial = self.admitted(trial)
            return self._keep(trial, least)
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
                refusal=Refusal(sentence=message),
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

    def admitted(self, trial: Trial) -> Trial:
        """The trial as the judge admits it, with what it was made from as its parent."""
        made_from = trial.candidate.parent
        parent = next((t for t in self.history if t.candidate.hash == made_from), self.baseline)
        return self.evaluator.admit(trial, parent, self.baseline, without=self._without)

    def _keep(self, trial: Trial, least: float = 1 + STEP_EFFECT) -> Trial:
        if trial.number not in self._recorded:
            self.store.append(trial)
        self.history.append(trial)
        if trial.number and not trial.cached and self._better(trial, least):
            self._best = trial
        text = _sentence(trial)
        if trial.outcome is Outcome.UNFIT and trial.refusal:
            text = f"Not inherited: {trial.refusal.message}"
        self.tell("trial_finished", number=trial.number, trial=trial, text=text)
        return trial

    def _better(self, trial: Trial, least: float) -> bool:
        if trial.outcome is not Outcome.OK or trial.measurement is None:
            return False
        if self.best.measurement is None:
            return False
        if self.baseline.measurement is None:
            return False
        step = compare(self.best.measurement, trial.measurement, STEP_EFFECT)
        whole = compare(self.baseline.measurement, trial.measurement)
        return step.low > least and whole.verdict != "worse"


def _score(trial: Trial) -> float | None:
    return trial.measurement.score_us if trial.measurement else None


def _sentence(trial: Trial) -> str:
    if trial.measurement is not None:
        return trial.candidate.rationale or f"{trial.measurement.score_us:.2f} µs"
    return trial.refusal.message if trial.refusal else trial.outcome.value
