"""Notices of a run while it goes on: data for the progress view and the log."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Trial

NoticeKind = Literal[
    "started", "trial_started", "trial_finished", "note", "verifying", "waiting", "finished"
]
"""`waiting` comes again and again while somebody else is at work; an onlooker may end the run."""


class Notice(Frozen):
    """One step of a run, with the state of the search after it."""

    kind: NoticeKind
    number: int = Field(default=0, description="Number of the trial that it is about.")
    stage: Literal["baseline", "tiling", "kernel", "joint"] = "baseline"
    trial: Trial | None = Field(default=None, description="Only when a trial finished.")
    best_us: float | None = None
    baseline_us: float | None = None
    spent: int = Field(default=0, description="Evaluations spent so far.")
    granted: int = 0
    text: str = Field(default="", description="One plain sentence for a person.")
