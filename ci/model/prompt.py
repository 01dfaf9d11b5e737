"""The prompt of a step, as `ascendopt prompt` shows it."""

from __future__ import annotations

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Trial


class StepPrompt(Frozen):
    """The prompt for the first step of a search."""

    operator: str
    trial: Trial = Field(description="The original operator, which the prompt describes.")
    system: str
    user: str
    tokens: int = Field(description="About how many: one for every four bytes.")
    stable: float = Field(
        description="Share of it that every prompt from this program begins with: what a provider"
        " serves from its cache."
    )
