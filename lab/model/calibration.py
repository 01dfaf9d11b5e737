"""Constants of the machine, fitted to measurements, and what each fit leaves over."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from ci.model.frozen import Frozen


class RowResult(Frozen):
    """One measurement and what the constants say of it."""

    name: str
    source: str
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.measured - 1


class ConstantResult(Frozen):
    """One fitted constant."""

    name: str
    current: float
    fitted: float
    without: dict[str, float]
    """The value that each fit without one source of rows gives, by that source."""


class GroupResult(Frozen):
    """One principle: its constants and the rows that they were fitted to."""

    title: str
    constants: tuple[ConstantResult, ...]
    rows: tuple[RowResult, ...]


class Calibration(Frozen):
    """All groups, and rows that no fit has seen, predicted from the device's constants."""

    device: str
    groups: tuple[GroupResult, ...]
    held_out: tuple[RowResult, ...]
    as_it_was: tuple[RowResult, ...] = ()
    """The rows of trials, as they were predicted before anything was learnt of them."""

    @property
    def held_out_error(self) -> float:
        """Median absolute relative error of the held-out rows."""
        return typical_error(self.held_out)


def typical_error(rows: Iterable[RowResult]) -> float:
    """Median absolute relative error."""
    return median(abs(row.error) for row in rows)
