"""The tables of strategies, from cells whose figures are known."""

from __future__ import annotations

import pytest

from ci.model.errors import InputError
from lab.bench.compared_strategies import chosen_arms
from lab.bench.strategy_table import comparable, shortened, table
from lab.model.strategies import (
    Arm,
    Cell,
    LeftOut,
    StrategyBench,
    StrategyBenchSettings,
)
from lab.report.strategies import distribution, markdown, trajectories
from tests.lab.bench.made import cell

OURS = Arm(name="ours", title="ours", strategy="adaptive")
OTHER = Arm(name="other", title="other", strategy="best_of_n", shorter=(3,))


def told(*cells: Cell, left_out: tuple[LeftOut, ...] = ()) -> StrategyBench:
    settings = StrategyBenchSettings(budget=5, suite="small")
    return table(
        settings, (OURS, OTHER), ("a", "b", "c"), cells, left_out,
        proposer="rules", device="910B4", version="x", bank_tuples=7,
    )  # fmt: skip


FULL = (
    cell("a", "ours", 0, 1.0), cell("a", "ours", 1, 4.0), cell("b", "ours", 0, 2.0),
    cell("a", "other", 0, 2.0), cell("a", "other", 1, 4.0), cell("b", "other", 0, 4.0),
)  # fmt: skip


def test_an_operator_counts_once_however_many_seeds_it_has() -> None:
    ours = told(*FULL).rows[0]
    assert ours.runs == 3
    assert ours.mean == pytest.approx(2.0)  # a: √(4 · 1), b: 2
    assert ours.fast == {"1.0": 2 / 3, "1.1": 2 / 3, "1.2": 2 / 3, "1.5": 2 / 3, "2.0": 1 / 3}


def test_only_what_every_arm_has_run_is_compared() -> None:
    found = told(*FULL, cell("a", "ours", 2, 1.0), cell("c", "ours", 0, 1.0))
    assert found.compared == ("a", "b") and found.seeds == 2
    assert found.unfinished == ("c",)
    assert found.rows[0] == told(*FULL).rows[0]
    assert "Not finished, 1: c." in markdown(found)
    assert comparable((OURS,), found.cells)["c"] == {("c", 0)}


def test_the_first_arm_is_held_against_each_other_one() -> None:
    other = {v.arm: v.difference for v in told(*FULL).versus}
    assert set(other) == {"other_3", "other"}
    assert other["other"].ratio == pytest.approx(2**0.75)  # a: √2, b: 2
    assert other["other"].verdict == "leads"
    assert other["other_3"].ratio == pytest.approx(2.0)


def test_a_smaller_budget_is_answered_by_the_beginning_of_a_run() -> None:
    less = shortened(FULL[0], "ours_4", 4)
    assert (less.speedup, less.best_trial, less.best_after) == (4.0, 2, (1.0, 1.0, 4.0))
    assert shortened(FULL[0], "ours_3", 3).speedup == 1.0
    rows = told(*FULL).rows
    assert [row.title for row in rows] == ["ours", "other = 3", "other = 5"]
    assert [bool(row.outcomes) for row in rows] == [True, False, True]


def test_one_floor_is_the_yardstick_of_all_arms() -> None:
    found = told(cell("a", "ours", 0, 2.0, floor=1.0), cell("a", "other", 0, 4.0, floor=2.0))
    shares = {row.arm: (row.floor_before, row.floor_after) for row in found.rows}
    assert shares == {
        "ours": (pytest.approx(0.25), pytest.approx(0.5)),
        "other": (pytest.approx(0.25), pytest.approx(0.25)),
        "other_3": (None, None),
    }


def test_the_page_says_what_was_left_out_and_what_leads() -> None:
    why = LeftOut(operator="c", reason="case one: it | fails")
    found = told(*FULL, left_out=(why,))
    text = markdown(found, images="images/")
    assert "| ours | 2.000x |" in text and "| leads |" in text
    assert "2 operators (small), 2 seeds, budget 5, proposer rules" in text
    assert "- c: case one: it" in text
    assert "| a | 4.000 | 2.000 | 1.414 |" in text
    assert "6 race" in text and "images/strategies-small-cdf.svg" in text
    assert "images/" not in markdown(found)
    assert "---|\n| ours | 2.000x |" in text and "---|\n| a | 4.000" in text


def test_the_pictures_are_the_same_for_the_same_figures() -> None:
    for draw in (trajectories, distribution):
        svg = draw(told(*FULL))
        assert svg.startswith("<svg") and svg == draw(told(*FULL))


def test_nothing_done_is_told_too() -> None:
    text = markdown(told(cell("a", "ours", 0, 1.0)))
    assert "0 operators (small)" in text and "|" not in text


def test_arms_are_named_or_strategies() -> None:
    assert [a.strategy for a in chosen_arms("random, random_search,tiling")] == [
        "random_search", "random_search", "adaptive",
    ]  # fmt: skip
    with pytest.raises(InputError, match="There is no strategy sideways; known: .*best_of_n"):
        chosen_arms("adaptive,sideways")
    with pytest.raises(InputError, match="There is no strategy given"):
        chosen_arms(" ,")
