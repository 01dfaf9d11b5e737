"""The base of all data that passes between parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of every value that passes between parts: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; what was computed of the original is not of the copy."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(copy).model_fields.keys():
            del copy.__dict__[name]
        return copy
