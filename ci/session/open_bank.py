"""The bank that a command names, and model calls next to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model.errors import InputError
from ci.model.workload import Workload

if TYPE_CHECKING:
    from ci.model.budget import ModelLimits
    from ci.proposer.base import Proposer
    from experience.bank.bank import Bank


def default_bank() -> Path:
    """The user's own bank: $XDG_DATA_HOME/ascendopt/bank.duckdb."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "ascendopt" / "bank.duckdb"


def open_bank(path: Path | None, *, must_exist: bool = False) -> Bank:
    """The bank at `path`, or the user's own; begun with the shipped tuples when there is none.

    Raises `InputError` when it cannot be opened, or when one that was named `must_exist`.
    """
    from experience.bank.bank import Bank
    from experience.bank.exchange import open_default_bank

    if must_exist and path is not None:
        return Bank(path, must_exist=True)
    chosen = path or default_bank()
    try:
        return open_default_bank(chosen)
    except OSError as problem:
        raise InputError(f"The bank {chosen} cannot be opened: {problem.strerror}.") from problem


def begin_beside(
    proposer: Proposer,
    bank: Bank,
    limits: ModelLimits,
    *,
    workload: Workload | None,
    device: str,
    upcoming: Callable[[], int] = lambda: 0,
) -> None:
    """Begin work that has no run of its own: model calls are kept in BANK.calls.sqlite.

    `workload` and `device` are those of the operator that it is about; None and '' when it is
    about no single one.
    """
    from ci.proposer.base import RunContext

    proposer.models.begin(
        RunContext(
            calls=bank.path.with_suffix(".calls.sqlite"),
            budget=limits.grant(),
            upcoming=upcoming,
            workload=workload,
            device=device,
        )
    )
