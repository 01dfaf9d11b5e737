"""The base of all data that passes between parts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of every value that passes between parts: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
