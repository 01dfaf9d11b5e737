"""What the simulated machine's time is judged by."""

from __future__ import annotations

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import AscHeaders


class ValidateSettings(Frozen):
    """What is compared, and where the page goes."""

    family: str = Field(default="", description="Only this family of published cases.")
    version: str = Field(
        default="", description="Only these versions, separated by commas, of the family."
    )
    asc_headers: AscHeaders = ""
    out: Folder | None = Field(
        default=None,
        description="Folder that keeps the runs (validation.jsonl); what it holds of the same"
        " simulator is not run again.",
    )
    page: Folder | None = Field(
        default=None, description="Folder to write validation.md and its plots to."
    )
