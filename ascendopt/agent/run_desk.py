"""The tools as an agent of `--proposer agent` has them: what it evaluates are the run's trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ascendopt.api.operator import Operator
from ascendopt.api.results import Comparison, Evaluation
from ascendopt.mcp_server.answers import CensusPage, LoadedOperator, MadeOperator, RecordedWin
from ascendopt.mcp_server.desk import Desk
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.search.run import Run

Answer = TypeVar("Answer")


class Ask(Protocol):
    """Has work done in the thread that the run belongs to, and returns its answer."""

    def __call__(self, work: Callable[[], Answer]) -> Answer:
        """Return the answer of `work`; raises InputError where the run has ended."""


class RunDesk(Desk):
    """A desk over a run: one operator, the run's budget, and its trials in the run's store."""

    def __init__(self, run: Run, operator: Operator, ask: Ask, out: Path, bank: Path | None):
        """`out` takes profiles."""
        super().__init__(out, 0, bank)
        self._run, self._ask = run, ask
        self._operators[operator.name] = operator
        self._baselines[operator.name] = Evaluation.of(run.baseline)

    @property
    def left(self) -> int:
        """Evaluations that are left in the run's budget."""
        return self._run.budget.left

    def load_operator(self, path: str, workload: str, device: str) -> LoadedOperator:
        """Answer with the operator of the run, whatever is asked for: it is loaded."""
        (name,) = self._operators
        return self._told(name, self._baselines[name])

    def create_operator(self, *given: Any) -> MadeOperator:
        """Refuse: the run is about one operator."""
        raise InputError("This run makes one operator faster; it creates none.")

    def run_census(self, *given: Any) -> CensusPage:
        """Refuse: the run is about one operator."""
        raise InputError("This run makes one operator faster; it tries no others.")

    def record_win(
        self, operator: str, patch: str, rationale: str, say: Callable[[str], None]
    ) -> RecordedWin:
        """Evaluate the patch; the run verifies its best trial when the agent ends."""
        candidate = self._candidate(self._loaded(operator), patch, rationale)
        trial, _ = self._evaluated(operator, candidate)
        before = self._baseline(operator)
        right = trial.outcome is Outcome.OK
        return RecordedWin(
            verdict="kept" if right else "refused",
            reason=trial.reason or "The best trial of the run is verified when you end.",
            speedup=before.score_us / trial.score_us if right else 0.0,
            folder="",
        )

    def _evaluated(self, operator: str, candidate: Candidate) -> tuple[Evaluation, int]:
        trial = self._ask(lambda: self._run.evaluate(candidate))
        return Evaluation.of(trial), trial.number

    def _compared(self, operator: str, candidate: Candidate) -> tuple[Comparison, int]:
        run = self._run

        def work() -> tuple[Comparison, int]:
            trial = run.evaluate(candidate)
            both = [run.baseline, trial]
            if trial.outcome is Outcome.OK:
                both = [run.widened(one) for one in both]
            before, after = (Evaluation.of(one) for one in both)
            return Comparison(before=before, after=after), trial.number

        return self._ask(work)

    def _spend(self, evaluations: int) -> None:
        if not self._run.budget.reserve(evaluations):
            raise InputError("The run's budget is spent.")

    def _kept(self, operator: str, evaluation: Evaluation) -> tuple[Evaluation, int]:
        """What only looks is paid for and is no trial of the run."""
        return evaluation, evaluation.number
