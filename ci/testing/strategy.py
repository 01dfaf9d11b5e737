"""What every search strategy must do: subclass `StrategyContract` and set `strategy`.

The searches are real but for the evaluator, which computes a time from the texts
(`ci.testing.model_operator`); so a whole run takes a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.proposer.base import Proposer, Step
from ci.proposer.rules.proposer import rules_proposer
from ci.search.base import Strategy
from ci.search.optimize import optimize
from ci.search.run import was_paid
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import HOST_FILE, WORKLOAD, ModelEvaluator, write
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Retrieved

BUDGET = 8
"""Evaluations of a run: the baseline, six candidates, and the final verification."""


class Killed(BaseException):
    """Stands for the end of the process."""


class MortalEvaluator(ModelEvaluator):
    """Dies instead of evaluating the trial of one number."""

    def __init__(self, operator: Operator, dies_at: int) -> None:
        super().__init__(operator)
        self._dies_at = dies_at

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial by the model, or the end."""
        if number == self._dies_at:
            raise Killed
        return super().evaluate(candidate, number)


class StrictEvaluator(ModelEvaluator):
    """Finds every second trial that would be built on unfit, whenever it is asked."""

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """The trial, or the trial as unfit."""
        if trial.number % 2 == 0:
            return trial
        refusal = Refusal(gate="other_shapes", sentence="It fails on other shapes.")
        return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refusal})


def unruly(sometimes: int) -> Proposer:
    """Breaks a rule of the tiling stage in every proposal whose number `sometimes` divides."""
    rules = rules_proposer()

    def mutate(
        step: Step, template: TilingTemplate, retrieved: Sequence[Retrieved] = ()
    ) -> Candidate | None:
        if len(step.history) % sometimes:
            return rules.mutate(step, template, retrieved)
        number = len(step.history)
        text = template.plain()[HOST_FILE].replace("OP_ADD", f"OP_ADD_{number}")
        return Candidate(files={HOST_FILE: text}, stage="tiling", parent=step.best.candidate.hash)

    return replace(rules, mutate=mutate)


def key(trials: Sequence[Trial]) -> list[tuple[int, Candidate, Outcome, float | None]]:
    """All that must be equal in two runs of one seed; not how long an evaluation took."""
    return [
        (t.number, t.candidate, t.outcome, t.measurement.score_us if t.measurement else None)
        for t in trials
    ]


class StrategyContract:
    """The behaviour that runs rely on, whatever is searched for and how."""

    strategy: ClassVar[type[Strategy]]

    @pytest.fixture
    def operator(self, tmp_path: Path) -> Operator:
        """An operator whose time the model knows."""
        return write(tmp_path)

    @pytest.fixture(scope="class")
    @classmethod
    def whole(cls, tmp_path_factory: pytest.TempPathFactory) -> Result:
        """A run that nothing interrupts."""
        folder = tmp_path_factory.mktemp("whole")
        return cls.search(ModelEvaluator(write(folder)), folder / "out")

    @classmethod
    def search(
        cls,
        judge: ModelEvaluator,
        out: Path,
        *,
        proposer: Proposer | None = None,
        stage: Literal["both", "tiling", "kernel"] = "both",
        resume: bool = False,
        seed: int = 0,
        budget: int = BUDGET,
    ) -> Result:
        """One run of the strategy."""
        return optimize(
            Task(judge.operator, WORKLOAD, judge, proposer or rules_proposer()),
            OptimizeSettings(budget=budget, stage=stage, resume=resume, seed=seed),
            out,
            strategy=cls.strategy(),
        )

    def test_it_says_what_it_is(self) -> None:
        assert self.strategy.name.isidentifier()
        assert self.strategy.summary and "\n" not in self.strategy.summary
        assert self.strategy().options == self.strategy.Options()

    def test_it_finds_something_faster(self, operator: Operator, tmp_path: Path) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        assert result.verdict == "improved"
        assert result.settings["strategy"] == self.strategy.name

    @pytest.mark.parametrize("stage", ["tiling", "kernel"])
    def test_it_changes_only_what_it_may(
        self, operator: Operator, tmp_path: Path, stage: Literal["tiling", "kernel"]
    ) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out", stage=stage)
        assert {t.candidate.stage for t in result.trials[1:]} == {stage}

    def test_the_same_seed_gives_the_same_trials(self, operator: Operator, tmp_path: Path) -> None:
        one, two = (self.search(ModelEvaluator(operator), tmp_path / o, seed=3) for o in "ab")
        assert key(one.trials) == key(two.trials)

    def test_the_budget_is_used_and_never_overdrawn(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        judge = ModelEvaluator(operator)
        result = self.search(judge, tmp_path / "out")
        assert judge.confirmed >= 1
        assert len(judge.evaluated) + judge.confirmed == result.budget.evaluations
        assert BUDGET - 1 <= result.budget.evaluations <= BUDGET  # one is put aside for a check

    def test_no_program_is_evaluated_twice(self, operator: Operator, tmp_path: Path) -> None:
        judge = ModelEvaluator(operator)
        self.search(judge, tmp_path / "out")
        assert len(set(judge.evaluated)) == len(judge.evaluated)

    @pytest.mark.parametrize("survived", range(1, BUDGET - 2))
    def test_a_run_killed_at_any_trial_resumes_to_the_same_trials(
        self, whole: Result, operator: Operator, tmp_path: Path, survived: int
    ) -> None:
        out = tmp_path / "out"
        with pytest.raises(Killed):
            self.search(MortalEvaluator(operator, survived), out)
        rest = ModelEvaluator(operator)
        resumed = self.search(rest, out, resume=True)
        assert key(resumed.trials) == key(whole.trials)
        assert len(rest.evaluated) == sum(map(was_paid, whole.trials)) - survived
        assert resumed.budget.evaluations == whole.budget.evaluations
        with TrialStore(out / TRIALS_FILE) as store:
            assert key(store.trials()) == key(whole.trials)

    def test_what_breaks_a_rule_is_recorded_and_costs_nothing(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        judge = ModelEvaluator(operator)
        result = self.search(judge, tmp_path / "out", proposer=unruly(2), stage="tiling")
        refused = [t for t in result.trials if t.outcome is Outcome.REJECTED]
        assert refused
        assert all(t.refusal and "EVOLVE-BLOCK" in t.refusal.sentence for t in refused)
        assert not {t.candidate.hash for t in refused} & set(judge.evaluated)
        assert result.budget.evaluations == len(judge.evaluated) + judge.confirmed

    def test_it_ends_when_every_proposal_breaks_a_rule(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        judge = ModelEvaluator(operator)
        result = self.search(judge, tmp_path / "out", proposer=unruly(1), stage="tiling")
        assert judge.evaluated == [result.baseline.candidate.hash]
        assert result.verdict == "not_improved"

    def test_what_failed_or_is_unfit_is_nobodys_parent(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        result = self.search(StrictEvaluator(operator), tmp_path / "out")
        bad = {t.candidate.hash for t in result.trials if t.outcome is not Outcome.OK}
        assert any(t.outcome is Outcome.UNFIT for t in result.trials)
        assert not bad & {t.candidate.parent for t in result.trials}
