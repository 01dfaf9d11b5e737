"""Every strategy does what the contract says, and what its own name says."""

from __future__ import annotations

import pkgutil
from dataclasses import replace
from pathlib import Path

import pytest

import ci.search.strategies
from ci.model.budget import Budget
from ci.model.errors import InputError, TrialFailure
from ci.model.operator import Operator
from ci.model.result import Verification
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.proposer.rules.proposer import rules_proposer
from ci.search.run import Run
from ci.search.steps import Steps
from ci.search.strategies import make_strategy, strategies, strategy_options
from ci.search.strategies.adaptive import Adaptive, _State
from ci.search.strategies.ascendoptimizer import AscendOptimizer
from ci.search.strategies.handover import Handover
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import HOST_FILE, KERNEL_FILE, WORKLOAD, ModelEvaluator, write
from ci.testing.strategy import BUDGET, StrategyContract
from tests.ci.search.adding import Adding, adding


class TwoCases(ModelEvaluator):
    """Takes as long in each of two cases as a comment at the end says."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial by the comment."""
        trial = super().evaluate(candidate, number)
        assert trial.measurement is not None
        said = candidate.files.get(KERNEL_FILE, "// 100 100").rpartition("//")[2].split()
        cases = [
            trial.measurement.cases[0].model_copy(
                update={"case": str(n), "samples_us": (t,), "median_us": t, "low_us": t}
                | {"high_us": t}
            )
            for n, t in enumerate(map(float, said))
        ]
        measured = trial.measurement.model_copy(update={"cases": tuple(cases)})
        return trial.model_copy(update={"measurement": measured})


def test_parents_are_the_best_then_what_is_faster_in_a_case_then_near_ties(
    tmp_path: Path,
) -> None:
    judge = TwoCases(write(tmp_path))
    run = Run(judge, Budget(9), TrialStore(tmp_path / TRIALS_FILE), lambda notice: None)
    start = run.measure_baseline()

    def taking(times: str) -> Trial:
        text = judge.operator.read(KERNEL_FILE) + f"// {times}\n"
        return run.evaluate(Candidate(files={KERNEL_FILE: text}, parent=start.candidate.hash))

    slow, near, best, special, _same = map(
        taking, ("120 120", "91 91", "90 90", "40 300", "91 91 ")
    )
    state = _State(
        run,
        Steps(run, Task(judge.operator, WORKLOAD, judge, rules_proposer()), OptimizeSettings()),
        start,
        best,
    )
    assert state.parents() == [best, special, near]
    assert slow not in state.parents()


class RefusingTilings(Adding):
    """Each other tiling is faster, and none passes the final check."""

    def held(self, trial: Trial) -> str:
        """The kernel's comments, and t for another tiling."""
        return super().held(trial) + ("t" if HOST_FILE in trial.candidate.files else "")

    def confirm(self, trial: Trial) -> Verification:
        """Passes kernels with the tiling as it was."""
        passed = super().confirm(trial)
        if "t" in self.held(trial):
            refused = Refusal(gate="other_shapes", sentence="It is slower for other shapes.")
            raise TrialFailure(Outcome.UNFIT, refused)
        return passed


class TestAscendOptimizer(StrategyContract):
    strategy = AscendOptimizer

    def test_it_builds_on_the_best_so_far(self, operator: Operator, tmp_path: Path) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        scores = {t.candidate.hash: t.measurement for t in result.trials}
        best = result.baseline.candidate.hash
        for trial in result.trials[1:]:
            assert trial.candidate.parent == best
            now, before = trial.measurement, scores[best]
            if now and before and before.score_us / now.score_us > 1.01:
                best = trial.candidate.hash

    @pytest.mark.parametrize(("refused", "reported"), [(1, "a"), (2, "")])
    def test_a_refusal_when_the_budget_is_spent_does_not_take_all_gains_along(
        self, tmp_path: Path, refused: int, reported: str
    ) -> None:
        judge = Adding(write(tmp_path), {"a": 300, "b": 200}, fails_verification=refused)
        result = self.search(
            judge, tmp_path / "out", proposer=adding("ab"), stage="kernel", budget=4
        )
        assert (result.budget.evaluations, judge.held(result.trials[2])) == (4, "ab")
        assert judge.held(result.best) == reported


class TestAdaptive(StrategyContract):
    strategy = Adaptive

    def test_it_takes_steps_from_more_than_the_best(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        assert len({t.candidate.parent for t in result.trials[1:]}) > 1

    @pytest.mark.parametrize(
        ("order", "tried"), [("ab", ["", "a", "ab"]), ("ba", ["", "b", "ab", "a"])]
    )
    def test_a_step_that_earns_too_little_is_built_on_and_not_reported(
        self, tmp_path: Path, order: str, tried: list[str]
    ) -> None:
        judge = Adding(write(tmp_path), {"a": 300, "b": 3})
        result = self.search(judge, tmp_path / "out", proposer=adding(order), stage="kernel")
        assert [judge.held(t) for t in result.trials][: len(tried)] == tried
        assert judge.held(result.best) == "a"

    def test_a_winner_that_does_not_hold_is_left_while_there_is_budget(
        self, tmp_path: Path
    ) -> None:
        judge = Adding(write(tmp_path), {"a": 300, "b": 200, "ab": -400}, fails_verification=1)
        result = self.search(judge, tmp_path / "out", proposer=adding("ab"), stage="kernel")
        assert judge.held(result.best) == "b"
        (refused,) = [t for t in result.trials if t.outcome is Outcome.UNFIT]
        assert judge.held(refused) == "a"
        assert judge.checked_after[0] < len(judge.evaluated)
        assert result.budget.evaluations <= BUDGET

    def test_what_helps_only_together_is_found(self, tmp_path: Path) -> None:
        judge = Adding(write(tmp_path), {"a": -5, "b": -5, "ab": 300})
        result = self.search(judge, tmp_path / "out", proposer=adding("ab"), stage="kernel")
        assert judge.held(result.best) == "ab"


class TestHandover(StrategyContract):
    strategy = Handover

    def test_it_begins_as_algorithm_1_and_goes_on_where_that_has_nothing_left(
        self, tmp_path: Path
    ) -> None:
        held = []
        for contract in (TestAscendOptimizer, TestHandover):
            judge = Adding(write(tmp_path), {"a": -5, "b": -5, "ab": 300})
            out = tmp_path / contract.strategy.name
            result = contract.search(judge, out, proposer=adding("ab"), stage="kernel")
            held.append([judge.held(t) for t in result.trials])
        published, ours = held
        assert published == ["", "a", "b"]
        assert ours[:3] == published
        assert "ab" in ours

    def test_what_a_round_found_is_checked_before_anything_is_built_on_it(
        self, tmp_path: Path
    ) -> None:
        judge = Adding(write(tmp_path), {"a": 300, "b": -5}, fails_verification=1)
        result = self.search(judge, tmp_path / "out", proposer=adding("ab"), budget=30)
        a_round = AscendOptimizer.Options()
        ended = 1 + a_round.tiling_steps + a_round.kernel_steps
        assert judge.checked_after[0] <= ended
        (refused,) = [t for t in result.trials if t.outcome is Outcome.UNFIT]
        assert refused.candidate.hash not in {t.candidate.parent for t in result.trials[ended:]}

    def test_a_kernel_is_tried_alone_where_the_tiling_below_it_is_refused(
        self, tmp_path: Path
    ) -> None:
        judge = RefusingTilings(write(tmp_path), {"t": 300, "a": 200, "ta": 100})
        once = replace(adding("a"), rewrite_both=lambda *_: None)
        result = self.search(judge, tmp_path / "out", proposer=once, budget=30)
        tried = [judge.held(t) for t in result.trials]
        assert tried.index("at") < tried.index("a")
        assert judge.held(result.best) == "a"
        assert result.best.candidate.rationale == "a"

    def test_what_the_rounds_found_is_reported_where_nothing_better_is_found(
        self, tmp_path: Path
    ) -> None:
        judge = Adding(write(tmp_path), {"a": 300, "b": -5})
        result = self.search(judge, tmp_path / "out", proposer=adding("ab"), stage="kernel")
        assert judge.held(result.best) == "a"


def test_every_file_of_the_folder_is_a_strategy_and_handing_over_is_the_default() -> None:
    files = {m.name for m in pkgutil.iter_modules(ci.search.strategies.__path__)}
    assert {one.__module__.rpartition(".")[2] for one in strategies().values()} == files
    assert type(make_strategy()) is Handover


def test_the_options_of_a_strategy_reach_it() -> None:
    options = strategy_options()
    made = make_strategy(options.model_validate({"rounds": 3, "kernel_steps": 2}))
    assert made.options.model_dump() == {"rounds": 3, "tiling_steps": 4, "kernel_steps": 2}
    with pytest.raises(ValueError, match="ascendoptimizer"):
        options.model_validate({"strategy": "gradient_descent"})
    astray = options.model_validate({"strategy": "adaptive", "kernel_steps": 2})
    with pytest.raises(InputError, match="--kernel-steps is an option of .* handover; adaptive"):
        make_strategy(astray)
