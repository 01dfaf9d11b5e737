"""The report of a census: a table on the terminal, the same and the reasons as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from bot.base.text import plain, visible
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
        made.add_row(Text(visible(category, 40)), *(str(reached[s]) for s in _SHOWN))
    made.add_row("all", *(str(summary.reached[s]) for s in _SHOWN), style="bold")
    if summary.for_chip != summary.operators:
        made.add_row("declared for the 910B", *(str(summary.reached_for_chip[s]) for s in _SHOWN))
    return made


def missing(summary: Summary, limit: int = MOST_REASONS) -> list[Reason]:
    """What stops most operators, as far as a report lists it."""
    return list(summary.reasons[:limit])


def names(reason: Reason) -> str:
    """The operators that a reason stops, the first of them by name."""
    shown = ", ".join(visible(n, 60) for n in reason.operators[:NAMES_SHOWN])
    more = len(reason.operators) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def census_markdown(title: str, rows: Sequence[CensusRow], summary: Summary) -> str:
    """The whole report as Markdown."""
    head = " | ".join(STAGE_WORDS[s] for s in _SHOWN)
    lines = [
        f"# Census of {plain(title)}",
        "",
        f"{summary.operators} operators; {summary.for_chip} of them are declared for the 910B."
        " *Verified* means that every case of a workload agrees with its golden function on every"
        " seed; *probed* that the kernel ran on derived shapes, its result not judged.",
        "",
        f"| category | {head} |",
        "|---|" + "---:|" * len(_SHOWN),
    ]
    counted = [(plain(c), reached) for c, reached in summary.by_category.items()]
    counted += [("**all**", summary.reached), ("**for the 910B**", summary.reached_for_chip)]
    for label, reached in counted:
        lines.append(f"| {label} | " + " | ".join(str(reached[s]) for s in _SHOWN) + " |")
    lines += [
        "",
        "## What is missing",
        "",
        "An operator counts once, for the first thing that stops it; others may wait behind."
        " Operators for other chips are left out.",
        "",
        "| operators | stage | reason | which |",
        "|---:|---|---|---|",
    ]
    for reason in missing(summary):
        lines.append(
            f"| {len(reason.operators)} | {STAGE_WORDS[reason.stage]} | {plain(reason.reason)} "
            f"| {plain(names(reason))} |"
        )
    lines += [
        "",
        "## Operators",
        "",
        "| operator | category | unit | got to | case | first error |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _line(row: CensusRow) -> str:
    error = row.failures[0] if row.failures else None
    said = ""
    if error is not None:
        said = f"{error.reason}: {error.message}" + (f" ({error.place})" if error.place else "")
    cells = (row.name, row.category, row.unit, row.judged or "-", row.case, said)
    return "| " + " | ".join(plain(cell, 300) for cell in cells) + " |"
