"""The result of `ascendopt bench judge` as Markdown tables."""

from __future__ import annotations

from lab.model.judge import MOST_REFUSED, JudgeBench
from lab.report.view import page


def tables(found: JudgeBench, *, rows: bool = True) -> str:
    """The figures by class and what went wrong; with `rows` every ruling, its gate and sentence."""
    operators = len({r.operator for r in found.rulings})
    shown = {"found": found, "operators": operators, "rows": rows, "most_refused": MOST_REFUSED}
    return page("judge.md.j2", **shown)
