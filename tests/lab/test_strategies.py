"""The strategies for comparison do what the contract says, and what their names say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.testing.model_operator import ModelEvaluator, write
from ci.testing.strategy import StrategyContract
from experience.bank.retrieve import Retrieved
from lab.strategies.accelopt import AccelOpt
from lab.strategies.best_of_n import BestOfN
from lab.strategies.random_search import RandomSearch
from tests.ci.search.adding import Adding, adding


class TestAccelOpt(StrategyContract):
    strategy = AccelOpt

    def test_the_next_programs_are_the_best_attempts_at_each_plan(
        self, operator: Operator, tmp_path: Path
    ) -> None:
        result = self.search(ModelEvaluator(operator), tmp_path / "out")
        first = result.trials[1:5]  # two plans of two attempts, from the operator as it stands
        assert {t.candidate.parent for t in first} == {result.baseline.candidate.hash}
        assert [t.candidate.stage for t in first] == ["tiling", "tiling", "kernel", "kernel"]
        later = {t.candidate.parent for t in result.trials[5:]}
        assert later and later <= {t.candidate.hash for t in first}

    def test_kernel_steps_are_offered_the_wins_of_this_run_and_its_losses_inverted(
        self, tmp_path: Path
    ) -> None:
        offered: list[Sequence[Retrieved]] = []
        one_by_one = adding("ab")

        def rewrite(
            step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
        ) -> Candidate | None:
            offered.append(retrieved)
            made = one_by_one.rewrite(step, diagnosis, retrieved)
            motif = {"a": "scalar-operand", "b": "cache-hint"}
            return made and made.model_copy(update={"motif_ids": (motif[made.rationale],)})

        judge = Adding(write(tmp_path), {"a": 300, "b": -500})
        proposer = replace(one_by_one, rewrite=rewrite)
        self.search(judge, tmp_path / "out", proposer=proposer, stage="kernel")
        assert not offered[0]
        told = {r.tuple.motif_id: r for r in offered[-1]}
        assert [r.tuple.motif_id for r in offered[-1]] == ["cache-hint", "scalar-operand"]
        assert told["scalar-operand"].tuple.direction == "forward"
        assert told["cache-hint"].tuple.direction == "negative"
        assert told["cache-hint"].effect == pytest.approx(1.5)
        assert told["scalar-operand"].reliability > 0.6 and told["cache-hint"].reliability < 0.4


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
