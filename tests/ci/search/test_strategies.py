"""Every strategy does what the contract says, and what its own name says."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

import ci.search.strategies
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.search.strategies import make_strategy, strategies, strategy_options
from ci.search.strategies.adaptive import Adaptive
from ci.search.strategies.ascendoptimizer import AscendOptimizer
from ci.search.strategies.best_of_n import BestOfN
from ci.search.strategies.random_search import RandomSearch
from ci.testing.model_operator import ModelEvaluator
from ci.testing.strategy import StrategyContract


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


class TestAdaptive(StrategyContract):
    strategy = Adaptive

    def test_it_takes_steps_from_more_than_the_best(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        assert len({t.candidate.parent for t in result.trials[1:]}) > 1


class TestRandomSearch(StrategyContract):
    strategy = RandomSearch

    def test_it_has_several_parents_and_other_ones_for_another_seed(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        parents = []
        for seed in (1, 2):
            result = self.search(ModelEvaluator(operator), tmp_path / str(seed), seed=seed)
            parents.append([t.candidate.parent for t in result.trials])
        assert all(len(set(found)) > 2 for found in parents)
        assert parents[0] != parents[1]


class TestBestOfN(StrategyContract):
    strategy = BestOfN

    def test_every_candidate_is_one_step_from_the_baseline(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        base = result.baseline.candidate.hash
        assert {t.candidate.parent for t in result.trials[1:]} == {base}
        assert {t.candidate.stage for t in result.trials[1:]} == {"tiling", "kernel"}


def test_every_file_of_the_folder_is_a_strategy_and_algorithm_1_is_the_default() -> None:
    files = {m.name for m in pkgutil.iter_modules(ci.search.strategies.__path__)}
    assert {one.__module__.rpartition(".")[2] for one in strategies().values()} == files
    assert isinstance(make_strategy(), AscendOptimizer)


def test_the_options_of_a_strategy_reach_it() -> None:
    options = strategy_options()
    made = make_strategy(options.model_validate({"rounds": 3, "kernel_steps": 2}))
    assert made.options.model_dump() == {"rounds": 3, "tiling_steps": 4, "kernel_steps": 2}
    with pytest.raises(ValueError, match="ascendoptimizer"):
        options.model_validate({"strategy": "gradient_descent"})
    astray = options.model_validate({"strategy": "best_of_n", "kernel_steps": 2})
    with pytest.raises(InputError, match="--kernel-steps is an option of .* ascendoptimizer; best"):
        make_strategy(astray)
