"""The figures of a bench, on numbers that can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.proposer.rules.proposer import rules_proposer
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.testing.model_operator import WORKLOAD, ModelEvaluator, write
from lab.bench.statistics import (
    best_after,
    case_times,
    fast,
    floor_share,
    geometric_mean,
    interval,
    outcomes,
    paired,
)
from lab.strategies.best_of_n import BestOfN

BUDGET = 12


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A real search over a modelled time."""
    folder = tmp_path_factory.mktemp("run")
    judge = ModelEvaluator(write(folder))
    task = Task(judge.operator, WORKLOAD, judge, rules_proposer())
    return optimize(task, OptimizeSettings(budget=BUDGET), folder / "out", strategy=BestOfN())


def with_trials(result: Result, *trials: Trial) -> Result:
    return result.model_copy(update={"trials": (result.baseline, *trials)})


def made(result: Result, number: int, factor: float = 1.0, **other: object) -> Trial:
    """A trial of the baseline's times divided by `factor`."""
    measured = result.baseline.measurement
    assert measured is not None
    cases = [
        case.model_copy(
            update={
                name: getattr(case, name) / factor for name in ("median_us", "low_us", "high_us")
            }
        )
        for case in measured.cases
    ]
    trial = Trial(
        number=number,
        candidate=Candidate(files={"a": str(number)}),
        outcome=Outcome.OK,
        measurement=measured.model_copy(update={"cases": tuple(cases)}),
    )
    return trial.model_copy(update=other)


def test_the_mean_and_its_interval_are_those_of_the_logarithms() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    low, high = interval([1.0, 4.0, 2.0, 2.0])
    assert 1.0 <= low < 2.0 < high <= 4.0
    assert (low, high) == interval([1.0, 4.0, 2.0, 2.0])
    assert interval([3.0]) == pytest.approx((3.0, 3.0))
    assert interval([3.0, 3.0]) == pytest.approx((3.0, 3.0))


def test_a_difference_without_a_tie_has_its_interval_on_one_side() -> None:
    leads = paired([1.2, 1.3, 1.25, 1.4])
    tie = paired([0.8, 1.25, 1.0, 1.0])
    assert leads is not None and tie is not None
    assert leads.verdict == "leads" and (leads.better, leads.worse) == (4, 0)
    assert tie.verdict == "no difference is shown" and (tie.better, tie.worse) == (1, 1)
    assert paired([2.0]) is None


def test_fast_p_counts_what_is_above_p_and_not_what_is_equal() -> None:
    assert fast([1.0, 1.0, 1.1, 1.3], 1.0) == 0.5
    assert fast([1.0, 1.0, 1.1, 1.3], 1.1) == 0.25


def test_the_best_so_far_is_by_evaluation_and_names_its_trial(result: Result) -> None:
    refused = Refusal(gate="step", sentence="It broke a rule.")
    found = with_trials(
        result,
        made(result, 1, 1.2),
        made(result, 2, 1.5, cached=True),
        made(result, 3, outcome=Outcome.REJECTED, measurement=None, refusal=refused),
        made(result, 4, outcome=Outcome.RACE, measurement=None),
        made(result, 5, 1.4),
        made(result, 6, 1.3),
    ).model_copy(update={"speedup": 1.4})
    curve = best_after(found, 8)
    assert [number for _, number in curve] == [0, 1, 1, 5, 5, 5, 5]
    assert [speedup for speedup, _ in curve] == pytest.approx([1, 1.2, 1.2, 1.4, 1.4, 1.4, 1.4])


def test_no_point_is_above_what_was_reported_in_the_end(result: Result) -> None:
    found = with_trials(result, made(result, 1, 3.0)).model_copy(update={"speedup": 1.0})
    assert {speedup for speedup, _ in best_after(found, 4)} == {1.0}


def test_the_best_so_far_of_a_real_search_ends_at_its_speedup(result: Result) -> None:
    curve = best_after(result, BUDGET)
    assert len(curve) == BUDGET - 1 and result.speedup > 1
    assert curve[-1] == (pytest.approx(result.speedup), result.best.number)
    assert [s for s, _ in curve] == sorted(s for s, _ in curve)


def test_a_shorter_run_of_best_of_n_is_the_beginning_of_a_longer_one(
    result: Result, tmp_path: Path
) -> None:
    judge = ModelEvaluator(write(tmp_path))
    task = Task(judge.operator, WORKLOAD, judge, rules_proposer())
    short = optimize(task, OptimizeSettings(budget=5), tmp_path / "out", strategy=BestOfN())
    assert best_after(result, BUDGET)[5 - 2] == (pytest.approx(short.speedup), short.best.number)


def test_trials_are_counted_by_how_they_ended(result: Result) -> None:
    refused = Refusal(gate="step", sentence="It broke a rule.")
    trials = [
        result.baseline,
        made(result, 1, 1.2),
        made(result, 2, 1.0),
        made(result, 3, 0.9),
        made(result, 4, 1.2, cached=True),
        made(result, 5, outcome=Outcome.RACE, measurement=None),
        made(result, 6, outcome=Outcome.REJECTED, measurement=None, refusal=refused),
    ]
    counted = outcomes(trials)
    assert counted == {
        "faster": 1, "unchanged": 1, "slower": 1, "cached": 1, "race": 1, "refused": 1,
    }  # fmt: skip


def test_unchanged_means_equal_to_the_parent_and_not_to_the_baseline(result: Result) -> None:
    parent = made(result, 1, 1.5)
    child = made(result, 2, 1.5, candidate=Candidate(files={"b": ""}, parent=parent.candidate.hash))
    assert outcomes([result.baseline, parent, child]) == {"faster": 1, "unchanged": 1}


def test_a_share_of_the_floor_weighs_its_cases() -> None:
    assert floor_share([(1.0, 1.0, 4.0), (1.0, 1.0, 1.0)]) == pytest.approx(0.5)
    assert floor_share([(3.0, 1.0, 4.0), (0.0, 1.0, 1.0)]) == pytest.approx(0.25)


def test_a_case_keeps_the_lower_of_both_floors(result: Result) -> None:
    assert result.baseline.measurement and result.best.measurement
    (case,) = case_times(result.baseline.measurement, result.best.measurement)
    (other,) = case_times(result.best.measurement, result.baseline.measurement)
    assert case.before_us == other.after_us > case.after_us
    assert case.floor_us == other.floor_us and case.floor_us is not None
