"""`bench strategies` in words and pictures: tables in Markdown, and two drawings as SVG."""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import Final

from bot.report.picture import drawn
from lab.model.strategies import FREE, KINDS, THRESHOLDS, Cell, Row, StrategyBench
from lab.report.view import page

FAILED: Final = tuple(k for k in KINDS if k not in ("faster", "slower", "unchanged", *FREE))
"""Kinds of trials that were evaluated and gave nothing to measure against."""

COLOURS: Final = (
    "#0f766e", "#2563eb", "#7c3aed", "#c2410c", "#b45309", "#be185d", "#4d7c0f", "#0e7490",
    "#7b8794", "#1f2933", "#9333ea", "#65a30d",
)  # fmt: skip


def markdown(found: StrategyBench, *, images: str = "", operators: bool = True) -> str:
    """The tables with the settings that give them again.

    `images` is the folder of the pictures as the page sees it, with a slash behind; `operators`:
    with the table of every operator.
    """
    return page(
        "strategies.md.j2",
        found=found,
        whole=[row for row in found.rows if row.outcomes],
        thresholds=THRESHOLDS,
        shares=_shares,
        failures=_failures,
        speedups=_speedups(found) if operators else {},
        images=images,
        name=found.settings.suite,
    )


def trajectories(found: StrategyBench) -> str:
    """The geometric mean of the best so far against evaluations, an arm a line."""
    with drawn(7.6, 3.6) as (axes, save):
        for row, colour in _coloured(found):
            axes.plot(range(1, len(row.curve) + 1), row.curve, color=colour, label=row.title)
        axes.set(xlabel="evaluations, the baseline first", ylabel="geometric mean of the best")
        axes.legend(frameon=False, fontsize=8)
        return save()


def distribution(found: StrategyBench) -> str:
    """The share of runs with at most a speedup: the lower a line runs, the better the arm."""
    with drawn(7.6, 3.6) as (axes, save):
        for row, colour in _coloured(found):
            speedups = sorted(c.speedup for c in _compared(found) if c.arm == row.arm)
            shares = [(i + 1) / len(speedups) for i in range(len(speedups))]
            axes.step([1.0, *speedups], [0.0, *shares], where="post", color=colour, label=row.title)
        axes.set_xscale("log")
        axes.set(xlabel="speedup", ylabel="share of runs with at most that")
        axes.legend(frameon=False, fontsize=8, loc="lower right")
        return save()


def _coloured(found: StrategyBench) -> list[tuple[Row, str]]:
    whole = [row for row in found.rows if row.outcomes]
    return [(row, COLOURS[i % len(COLOURS)]) for i, row in enumerate(whole)]


def _compared(found: StrategyBench) -> list[Cell]:
    """The cells of the operators in the tables that every arm has made."""
    made: dict[tuple[str, int], int] = {}
    for cell in found.cells:
        made[cell.operator, cell.seed] = made.get((cell.operator, cell.seed), 0) + 1
    return [c for c in found.cells if made[c.operator, c.seed] == len(found.arms)]


def _shares(row: Row) -> tuple[float, float, float, float, float]:
    """Return shares of the evaluated trials: faster, slower, unchanged, failed; and free ones
    for each."""
    paid = sum(n for kind, n in row.outcomes.items() if kind not in FREE) or 1
    failed = sum(row.outcomes.get(kind, 0) for kind in FAILED)
    free = sum(row.outcomes.get(kind, 0) for kind in FREE)
    own = (row.outcomes.get(kind, 0) for kind in ("faster", "slower", "unchanged"))
    faster, slower, unchanged = own
    return faster / paid, slower / paid, unchanged / paid, failed / paid, free / paid


def _failures(row: Row) -> str:
    """'3 race, 2 wrong result', the most frequent first."""
    named = sorted(
        ((n, KINDS[k]) for k, n in row.outcomes.items() if k in FAILED), key=lambda p: (-p[0], p[1])
    )
    return ", ".join(f"{n} {words}" for n, words in named) or "none"


def _speedups(found: StrategyBench) -> dict[str, tuple[float, list[float]]]:
    """Return the speedups, by operator: its time as in µs, and the speedup of each arm over its
    seeds."""
    cells = _compared(found)
    told = {}
    for operator in found.compared:
        own = [c for c in cells if c.operator == operator]
        weights = [case.weight for case in own[0].cases]
        times = [log(case.before_us) for case in own[0].cases]
        before = exp(fmean(times, weights))
        speedups = [
            exp(fmean(log(c.speedup) for c in own if c.arm == arm.name)) for arm in found.arms
        ]
        told[operator] = (before, speedups)
    return told
