"""When a search ends."""

from __future__ import annotations

from typing import Final

MOST_IDLE: Final = 12
"""Proposals of a stage in a row that cost no evaluation, after which it counts as exhausted."""


class BudgetSpent(Exception):
    """No evaluation is left; ends the search and not the run. A strategy lets it pass."""
