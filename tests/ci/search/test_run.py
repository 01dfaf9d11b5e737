"""A run answers from what it recorded, by candidate, and pays for every evaluation once."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from ci.judge.gates.room import RoomGate
from ci.model.budget import Budget
from ci.model.notice import Notice
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.search.ending import BudgetSpent
from ci.search.run import Run
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import KERNEL_FILE, ModelEvaluator, write


@pytest.fixture
def judge(tmp_path: Path) -> ModelEvaluator:
    return ModelEvaluator(write(tmp_path))


def begin(judge: ModelEvaluator, folder: Path, granted: int = 5) -> Run:
    run = Run(judge, Budget(granted), TrialStore(folder / TRIALS_FILE), lambda notice: None)
    run.measure_baseline()
    return run


def variant(operator: Operator, name: str) -> Candidate:
    text = operator.read(KERNEL_FILE) + f"// {name}\n"
    return Candidate(files={KERNEL_FILE: text}, stage="kernel", parent=Candidate().hash)


def test_a_resumed_run_may_ask_in_another_order(judge: ModelEvaluator, tmp_path: Path) -> None:
    one, two = (variant(judge.operator, name) for name in ("one", "two"))
    first = begin(judge, tmp_path)
    recorded = [first.evaluate(c) for c in (one, two)]
    judge.evaluated.clear()
    resumed = begin(judge, tmp_path)
    assert resumed.is_recorded(two)
    assert [resumed.evaluate(c) for c in (two, one)] == recorded[::-1]
    assert judge.evaluated == []
    assert not resumed.is_recorded(two)
    assert resumed.budget.left == first.budget.left == 2


def test_what_a_resumed_run_does_not_ask_for_again_was_paid_for_all_the_same(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    first = begin(judge, tmp_path)
    for name in ("one", "two"):
        first.evaluate(variant(judge.operator, name))
    resumed = begin(judge, tmp_path)
    new = resumed.evaluate(variant(judge.operator, "three"))
    assert new.number == 3
    assert resumed.budget.left == 1  # the baseline and all three
    resumed.evaluate(variant(judge.operator, "one"))
    assert resumed.budget.left == 1
    resumed.evaluate(variant(judge.operator, "four"))
    with pytest.raises(BudgetSpent):
        resumed.evaluate(variant(judge.operator, "five"))
    assert [t.number for t in resumed.store.trials()] == [0, 1, 2, 3, 4]


def test_an_equal_candidate_is_answered_from_the_first(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    run = begin(judge, tmp_path)
    first = run.evaluate(variant(judge.operator, "one"))
    again = run.evaluate(variant(judge.operator, "one"))
    assert again.cached and again.number == 2
    assert again.measurement == first.measurement
    assert run.budget.left == 3
    assert not run.gained(again)


class Compiled(ModelEvaluator):
    """What is compiled of a text does not depend on its comments."""

    def program(self, candidate: Candidate) -> str:
        text = candidate.files.get(KERNEL_FILE, "")
        return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def test_what_compiles_to_an_earlier_program_costs_nothing_also_when_resumed(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    compiled = Compiled(judge.operator)
    run = begin(compiled, tmp_path)
    first = run.evaluate(variant(judge.operator, "one"))
    same = run.evaluate(variant(judge.operator, "two"))
    assert same.cached and same.measurement == first.measurement
    assert (len(compiled.evaluated), run.budget.left) == (2, 3)
    resumed = begin(compiled, tmp_path)
    assert resumed.evaluate(variant(judge.operator, "two")) == same
    assert resumed.evaluate(variant(judge.operator, "three")).cached
    assert resumed.evaluate(variant(judge.operator, "one")) == first
    assert (len(compiled.evaluated), resumed.budget.left) == (2, 3)


def test_a_refused_candidate_is_not_paid_for_by_a_resumed_run_either(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    begin(judge, tmp_path).refuse(variant(judge.operator, "one"), "It breaks a rule.")
    resumed = begin(judge, tmp_path)
    resumed.evaluate(variant(judge.operator, "two"))
    assert resumed.budget.left == 3


class Cramped(ModelEvaluator):
    """Its core has no room for anything but the original."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number, profile=profile)
        if not candidate.files:
            return trial
        refusal = Refusal(gate=RoomGate.name, sentence="A buffer does not fit.")
        failed = {"outcome": Outcome.MEMORY_ERROR, "refusal": refusal, "measurement": None}
        return trial.model_copy(update=failed)


def test_what_there_is_no_room_for_costs_no_evaluation_also_when_resumed(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    cramped = Cramped(judge.operator)
    run = begin(cramped, tmp_path)
    left = run.budget.left
    failed = run.evaluate(variant(judge.operator, "one"))
    assert failed.outcome is Outcome.MEMORY_ERROR
    assert run.budget.left == left
    resumed = begin(cramped, tmp_path)
    assert resumed.evaluate(variant(judge.operator, "one")) == failed
    assert resumed.budget.left == left


def test_what_was_made_once_is_recalled_by_a_resumed_run(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    assert begin(judge, tmp_path).recall("offered", lambda: "a tuple") == "a tuple"
    assert begin(judge, tmp_path).recall("offered", lambda: "another") == "a tuple"


def test_the_best_that_onlookers_see_never_gets_worse(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    seen: list[Notice] = []
    run = Run(judge, Budget(9), TrialStore(tmp_path / TRIALS_FILE), seen.append)
    run.measure_baseline()
    slow = judge.operator.read(KERNEL_FILE)
    fast = slow.replace("PipeBarrier<PIPE_V>();", "").replace("Duplicate(y, 3.0f, n);", "")
    for text in (slow + "//", fast, slow + "///"):
        run.evaluate(Candidate(files={KERNEL_FILE: text}, stage="kernel"))
    best = [n.best_us for n in seen if n.kind == "trial_finished" and n.best_us]
    assert best[0] == best[1] > best[2] == best[3]
    assert seen[-1].stage == "kernel"


def test_a_gate_that_is_none_cannot_be_left_out(judge: ModelEvaluator, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="other_shape:"):
        Run(judge, Budget(5), TrialStore(tmp_path / "t"), lambda notice: None, ("other_shape",))


def test_what_is_reported_is_asked_by_every_gate_against_the_operator_as_it_stands(
    judge: ModelEvaluator, tmp_path: Path
) -> None:
    # Its parent may be one that no gate of admission was asked about.
    asked: list[tuple[Trial, Trial, Collection[str]]] = []

    class Watching(ModelEvaluator):
        def admit(
            self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
        ) -> Trial:
            asked.append((trial, parent, without))
            return trial.model_copy(update={"gates": (*trial.gates, "unordered")})

    store = TrialStore(tmp_path / TRIALS_FILE)
    watching = Watching(judge.operator)
    run = Run(watching, Budget(9), store, lambda notice: None, ("other_shapes",))
    run.measure_baseline()
    parent = run.evaluate(variant(judge.operator, "a"), least=0)
    child = variant(judge.operator, "b").model_copy(update={"parent": parent.candidate.hash})
    trial = run.evaluate(child, least=0)
    run.admit(trial)
    (_, *before), (again, *after) = asked[-2:]
    assert before == [parent, ("other_shapes",)]
    assert after == [run.baseline, ()]
    assert again.gates == watching.evaluate(child, 9).gates  # none of admission is taken as passed
