"""An author's own change against its base: what a check finds in the one and in the other."""

from __future__ import annotations

from pydantic import Field

from ci.model.finding import Finding
from ci.model.frozen import Frozen
from ci.model.trial import Fingerprint


class CheckedChange(Frozen):
    """The result of a run of the kind `check`, without its notes."""

    run: str
    operator: str = Field(description="What names it, from the repository's top.")
    folder: str = Field(
        default=".", description="Seen from `operator`, the folder that findings' places are in."
    )
    base_commit: str
    head_commit: str
    fingerprint: Fingerprint
    cases: int = Field(default=0, description="Cases that were launched after the change.")
    unchecked: str = Field(default="", description="Why nothing was checked; '' where it was.")
    new: tuple[Finding, ...] = Field(default=(), description="Only after the change.")
    old: tuple[Finding, ...] = Field(default=(), description="Before it, too.")
    gone: tuple[Finding, ...] = Field(default=(), description="Only before it.")
