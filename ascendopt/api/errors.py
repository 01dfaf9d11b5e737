"""The exceptions that public functions raise."""

from __future__ import annotations

from ci.model.errors import EnvironmentProblem, InputError

__all__ = ["Cancelled", "EnvironmentProblem", "InputError"]


class Cancelled(Exception):
    """The result of a search was asked for that somebody cancelled."""
