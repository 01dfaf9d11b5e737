"""What `bench screen` is asked and says: device evaluations that a screening simulator spares."""

from __future__ import annotations

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE


class ScreenBenchSettings(Frozen):
    """Searches with a device alone, and with a simulator that screens for it."""

    budget: int = Field(default=16, ge=4, description="Evaluations of each search.")
    seed: int = Field(default=0, ge=0, description="Of the searches.")
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    out: Folder | None = Field(
        default=None,
        description="Folder that keeps the searches, for `machine calibrate --from-trials`.",
    )


class ScreenRow(Frozen):
    """One operator searched both ways."""

    operator: str
    alone: int
    """Evaluations that the device made without a screen."""
    screened: int
    """Evaluations that it made with one."""
    spared: int
    """Evaluations that the simulator decided."""
    speedup_alone: float
    speedup_screened: float
    """The speedup on the device with screening."""


class ScreenBench(Frozen):
    """What was measured, by operator."""

    rows: tuple[ScreenRow, ...]
