"""Operators made of golden functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci.model.bench.create import CreateBench, CreateBenchSettings, CreateRow
    from ci.model.created import Created, CreateSettings


def create_operator(
    golden: str, settings: CreateSettings, say: Callable[[str], None] = lambda said: None
) -> Created:
    """Make, write and verify the operator of a golden function; raises InputError with what stops
    it, and leaves nothing then."""
    from ci.create.create import create

    return create(golden, settings, say)


def bench_create(
    path: Path, settings: CreateBenchSettings, on_row: Callable[[CreateRow], None]
) -> CreateBench:
    """An operator of each task at `path`; rows that `settings.out` holds are not made again."""
    from ci.lab.bench.create import measure

    return measure(path, settings, on_row)
