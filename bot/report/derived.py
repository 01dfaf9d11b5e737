"""How many operators have a derived workload, as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence

from bot.report.view import page
from ci.model.derived import Coverage


def coverage_table(counted: Sequence[Coverage]) -> str:
    """One row a repository, and what stops most of the operators that have none."""
    return page("derived.md.j2", counted=counted)
