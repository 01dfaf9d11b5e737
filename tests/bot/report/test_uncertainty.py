"""How sure a figure is, as reports and merge requests show it."""

from __future__ import annotations

from bot.report.facts import headline, mean_times, reproduction
from bot.report.html import html
from bot.report.markdown import markdown
from bot.report.uncertainty import MOST_ROWS, ensemble_lines, range_line, spread_note, spread_rows
from bot.server.merge_request import body, commit_message
from ci.model.result import Result
from ci.model.trial import Measurement, Trial
from ci.model.uncertainty import uncertainty
from tests.bot.make import result


def widened(**halved: float) -> Result:
    """A run whose members halve the gain as much as they say, beside the conditions."""
    made = result()
    names = {"cold": 1.0, "warm": 1.25, **{k.replace("__", "."): v for k, v in halved.items()}}

    def over(trial: Trial, losing: bool) -> Trial:
        assert trial.measurement is not None
        cases = trial.measurement.cases
        members = {
            c.case: {n: c.median_us * (by if losing else 1) for n, by in names.items()}
            for c in cases
        }
        return trial.model_copy(update={"measurement": trial.measurement.over(members)})

    before, after = over(made.baseline, False), over(made.best, True)
    spread = uncertainty(_measured(before), _measured(after))
    return made.model_copy(update={"baseline": before, "best": after, "uncertainty": spread})


def _measured(trial: Trial) -> Measurement:
    assert trial.measurement is not None
    return trial.measurement


MADE = widened(**{"mte2__latency = 240": 1.6, "hbm__efficiency = 0.9": 0.9})


def test_no_line_below_the_headline_says_less_than_it_does() -> None:
    assert headline(MADE) == (
        "ScaleAdd: at least 1.25× faster, 2.00× from a cold start (simulated, 910B4)"
    )
    assert range_line(MADE).startswith("Over all") and ": 1.25× to" in range_line(MADE)
    assert f"{MADE.held:.2f}" == "1.25"
    assert MADE.typical == (2.0 * 1.6) ** 0.5  # what `minimum_speedup` is held against
    assert headline(result()) == "ScaleAdd: 2.00× faster (simulated, 910B4)"


def test_a_page_shows_the_figure_of_the_first_state_only_of_an_improvement() -> None:
    even = widened(mte2__latency=2.0)
    assert even.uncertainty is not None and even.uncertainty.even
    assert '<div class="figure">2.00×' in html(even)
    unknown = even.model_copy(update={"verdict": "unknown"})
    assert '<div class="figure">1.00×' in html(unknown)


def test_the_line_below_has_the_range_and_names_the_worst_case() -> None:
    said = range_line(MADE)
    assert "1.25× to 2.22×. Smallest gain: if MTE2 latency is 240 cycles (default 200)." in said
    assert said.endswith("Less than half of the gain remains there.")
    assert range_line(result()) == ""


def test_the_times_of_the_headline_are_those_of_the_condition_that_the_figure_is_of() -> None:
    spread = MADE.uncertainty
    assert spread is not None
    warm = {"warm": spread.members["warm"], **spread.members}
    asked = spread.model_copy(update={"members": warm, "speedup": warm["warm"]})
    made = MADE.model_copy(update={"uncertainty": asked, "speedup": warm["warm"]})
    assert ": at least 1.25× faster, 1.60× in the state: warm (" in headline(made)
    assert mean_times(made) == (
        "16.97 µs → 10.61 µs, geometric mean of 2 cases (simulated time, warm)"
    )


def test_conditions_come_first_and_then_what_moves_the_gain_most() -> None:
    rows = spread_rows(MADE)
    assert [row.member for row in rows] == [
        "cold",
        "warm",
        "mte2.latency = 240",
        "hbm.efficiency = 0.9",
    ]
    assert [round(row.ratio, 2) for row in rows] == [2.0, 1.6, 1.25, 2.22]
    assert round(rows[0].before_us / rows[0].after_us, 6) == rows[0].ratio


def test_only_the_strongest_constants_are_named_and_idle_ones_are_not() -> None:
    many = widened(**{f"a__b{i} = {i}": 1 + i / 20 for i in range(20)})
    named = [row.member for row in spread_rows(many)]
    assert len(named) == 2 + MOST_ROWS
    assert named[2] == "a.b19 = 19" and "a.b0 = 0" not in named
    assert f"The table has {2 + MOST_ROWS} of them: the start states," in spread_note(many)
    assert "The table has" not in spread_note(MADE), "it has all"


def test_the_note_names_the_ends_of_the_range() -> None:
    note = spread_note(MADE)
    assert "4 conditions" in note
    arrives = "if MTE2 latency is 240 cycles (default 200)"
    assert f"at least 1.25× ({arrives}) and at most 2.22× (if HBM reaches" in note


def test_every_report_shows_it_and_none_where_nothing_was_measured() -> None:
    for shown in (markdown(MADE), html(MADE), body(MADE)):
        assert (
            "How the range is made" in shown
            and "HBM reaches 0.9 of its peak bandwidth (default 0.83)" in shown
        )
        assert "hbm.efficiency" not in shown
    for shown in (markdown(result()), html(result()), body(result())):
        assert "How the range is made" not in shown
    assert "Ascendopt-Speedup-Range: 1.25 to 2.22 over" in commit_message(MADE, "Optimize")


def test_a_member_that_a_case_lacks_is_left_out() -> None:
    (first, *rest) = _measured(MADE.best).cases
    less = first.model_copy(update={"members_us": {"cold": 6.0}})
    measured = _measured(MADE.best).model_copy(update={"cases": (less, *rest)})
    best = MADE.best.model_copy(update={"measurement": measured})
    assert [row.member for row in spread_rows(MADE.model_copy(update={"best": best}))] == ["cold"]


def test_an_evaluation_lists_conditions_and_the_range_of_what_was_moved() -> None:
    lines = ensemble_lines({"cold": 8.0, "warm": 3.0, "a.b = 1": 7.0, "a.b = 3": 9.5})
    assert lines == [
        "cold: 8.000 µs",
        "warm: 3.000 µs",
        "cold, over the machine's uncertainty: 7.000 µs (a.b = 1) to 9.500 µs (a.b = 3)",
    ]
    assert ensemble_lines({}) == []


def test_the_command_that_repeats_a_figure_asks_for_its_uncertainty_and_conditions() -> None:
    asked = MADE.model_copy(update={"settings": {**MADE.settings, "conditions": "warm"}})
    lines = reproduction(asked)
    search = lines[-1]
    assert sum("--uncertainty" in line for line in lines) == 2
    assert "--conditions warm" in search and "--uncertainty" not in search
    assert not any("--uncertainty" in line for line in reproduction(result()))
