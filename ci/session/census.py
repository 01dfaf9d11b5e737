"""A census: how far each operator of a repository gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ci.model.census import CensusRow, CensusSettings, Summary


def census(
    repository: Path,
    settings: CensusSettings,
    out: Path,
    on_row: Callable[[CensusRow, int, int], None],
) -> tuple[list[CensusRow], Summary]:
    """Try every operator of a repository; a census that `out` holds goes on."""
    from ci.census.run import take_census
    from ci.census.summary import summarize
    from ci.source.seen_kernels import left_out

    rows = take_census(repository, settings, out, on_row)
    return rows, summarize(rows, left_out(repository.resolve()))
