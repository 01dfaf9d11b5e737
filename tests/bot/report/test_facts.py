from __future__ import annotations

from bot.report.facts import (
    case_rows,
    headline,
    mean_times,
    outcome_counts,
    pipe_rows,
    remarks,
    reproduction,
    steps,
    trajectory,
    tuple_rows,
)
from bot.report.verification import screening
from tests.bot.make import result, trial


def test_a_case_has_its_times_before_and_after() -> None:
    rows = case_rows(result())
    assert [(r.before.case, r.before.median_us, r.after.median_us, r.ratio) for r in rows] == [
        ("fp16_2048", 12.0, 6.0, 2.0),
        ("fp16_4096", 24.0, 12.0, 2.0),
    ]


def test_pipes_are_summed_over_cases_and_idle_ones_left_out() -> None:
    rows = {row.pipe: row for row in pipe_rows(result())}
    assert set(rows) == {"SCALAR", "MTE2", "VECTOR", "MTE3"}
    assert rows["MTE2"].before_cycles == 2 * 12.0 * 900
    assert rows["MTE2"].before_share == 2 * 12.0 * 900 / (3 * 12.0 * 1650)


def test_the_chain_of_accepted_changes_leads_from_baseline_to_best() -> None:
    chain = steps(result())
    assert [(s.trial.number, s.trial.candidate.stage) for s in chain] == [
        (2, "tiling"),
        (5, "kernel"),
    ]
    assert chain[0].after_us == chain[1].before_us


def test_the_best_line_never_rises_and_failures_have_no_score() -> None:
    points = trajectory(result())
    best = [p.best_us for p in points]
    assert best == sorted(best, reverse=True)
    assert [p.trial for p in points if p.score_us is None] == [1, 3]


def test_a_faster_mean_with_a_slower_case_is_no_improvement() -> None:
    made = result()
    lame = trial(6, {"op_kernel/scale_add.cpp": "q"}, 5.0)
    assert lame.measurement is not None
    first, second = lame.measurement.cases
    slow = second.model_copy(update={"median_us": 26.0, "low_us": 26.0, "high_us": 26.0})
    lame = lame.model_copy(
        update={"measurement": lame.measurement.model_copy(update={"cases": (first, slow)})}
    )
    made = made.model_copy(update={"trials": (*made.trials, lame)})
    last = trajectory(made)[-1]
    assert not last.acceptable
    assert last.best_us == trajectory(made)[-2].best_us
    assert remarks(made) == {6: "case fp16_4096 became 8.3% slower"}


def test_a_tuple_is_shown_once_with_all_its_trials() -> None:
    (used,) = result().retrieved
    other = used.model_copy(update={"id": "0" * 12, "similarity": 0.99, "won": False})
    again = used.model_copy(update={"trial": 4, "similarity": 0.5, "why": "less", "won": False})
    rows = tuple_rows(result(retrieved=(other, used, again)))
    assert [row.nearest.id for row in rows] == [used.id, other.id]
    assert (rows[0].trials, rows[0].won, rows[0].nearest.why) == ((4, 5), (5,), used.why)


def test_outcomes_are_counted() -> None:
    assert outcome_counts(result()) == {"ok": 4, "memory_error": 1, "race": 1}


def test_simulated_time_is_called_simulated() -> None:
    assert headline(result()).endswith("(simulated, 910B4)")
    assert "simulated time" in mean_times(result())


def test_no_improvement_is_said_plainly() -> None:
    said = headline(result(verdict="not_improved", verdict_reason="nothing helped", speedup=1.0))
    assert said == "No verified improvement of ScaleAdd was found: nothing helped"


def test_a_run_whose_baseline_failed_has_no_rows() -> None:
    from ci.model.trial import Outcome

    failed = trial(0, outcome=Outcome.WRONG_RESULT, message="element 3 is off", stage="baseline")
    empty = result(
        verdict="baseline_failed",
        verdict_reason="x",
        baseline=failed,
        best=failed,
        trials=(failed,),
        diff="",
        speedup=1.0,
        verification=None,
        retrieved=(),
    )
    assert case_rows(empty) == steps(empty) == []
    assert pipe_rows(empty) == trajectory(empty) == ()


def test_reproduction_quotes_what_the_shell_would_read() -> None:
    lines = reproduction(result(operator_path="src/a b; rm -rf"))
    assert any("'src/a b; rm -rf'" in line for line in lines)
    assert lines[-1].endswith("--seed 7")


def test_a_run_on_a_device_says_what_the_simulator_decided() -> None:
    made = result()
    assert screening(made) == ""
    predicted = made.baseline.measurement
    trials = [t.model_copy(update={"predicted": predicted}) for t in made.trials]
    trials[1:4] = [t.model_copy(update={"screened": True}) for t in trials[1:4]]
    told = screening(made.model_copy(update={"trials": tuple(trials)}))
    assert told == "The simulator decided 3 of them; a device decided the others."
