"""Operators made of golden functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci.model.created import Created, CreateSettings


def create_operator(
    golden: str, settings: CreateSettings, say: Callable[[str], None] = lambda said: None
) -> Created:
    """Make, write and verify the operator of a golden function; raises InputError with what stops
    it, and leaves nothing then."""
    from ci.create.create import create

    return create(golden, settings, say)
