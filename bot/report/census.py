"""The report of a census: a table on the terminal, the same and the reasons as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from bot.base.text import harmless, visible
from bot.report.view import page
from ci.model.amount import amount
from ci.model.census import MOST_REASONS, STAGE_WORDS, CensusRow, Reason, Stage, Summary

NAMES_SHOWN: Final = 8
_SHOWN: Final = tuple(Stage)


def table(summary: Summary) -> Table:
    """How many operators of each category passed each stage."""
    made = Table(title=None, box=None, pad_edge=False)
    made.add_column("category")
    for stage in _SHOWN:
        made.add_column(STAGE_WORDS[stage], justify="right")
    for category, reached in summary.by_category.items():
        made.add_row(Text(harmless(visible(category, 40))), *(str(reached[s]) for s in _SHOWN))
    made.add_row("all", *(str(summary.reached[s]) for s in _SHOWN), style="bold")
    if summary.for_chip != summary.operators:
        made.add_row("declared for the 910B", *(str(summary.reached_for_chip[s]) for s in _SHOWN))
    return made


def sync_words(summary: Summary) -> str:
    """How many operators are built with and without automatic synchronisation."""
    return ", ".join(f"{n} {word}" for word, n in sorted(summary.auto_sync.items(), reverse=True))


def other_chips_words(summary: Summary) -> str:
    """What became of operators that are declared for other chips only, '' where there is none."""
    others = summary.operators - summary.for_chip
    if not others:
        return ""
    found = summary.tried_as
    if not found:
        return (
            f"{amount(others, 'operator')} declared for other chips only: nothing was built."
            " `--as 910B` tries such operators as if they were for this chip."
        )
    return (
        f"{found[Stage.FOUND]} of {amount(others, 'operator')} for other chips only, tried as the"
        f" 910B: {found[Stage.RUNS]} run, {found[Stage.VERIFIED]} of these verified. They count in"
        " no other row."
    )


def missing(summary: Summary, limit: int = MOST_REASONS) -> list[Reason]:
    """Return the obstacles that stop most operators, as many as a report lists."""
    return list(summary.reasons[:limit])


def names(reason: Reason) -> str:
    """The operators that a reason stops, the first of them by name."""
    shown = ", ".join(visible(n, 60) for n in reason.operators[:NAMES_SHOWN])
    more = len(reason.operators) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def census_markdown(title: str, rows: Sequence[CensusRow], summary: Summary) -> str:
    """The whole report as Markdown."""
    return page(
        "census.md.j2",
        title=title,
        rows=rows,
        summary=summary,
        stages=_SHOWN,
        words=STAGE_WORDS,
        missing=missing(summary),
        other_chips=other_chips_words(summary),
        names=names,
    )
