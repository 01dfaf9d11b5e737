"""Failures that a forge can answer with."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "not_found",  # no such repository, merge request, branch, commit or comment
    "forbidden",  # the token is missing, wrong, or lacks a right
    "conflict",  # it exists already, or somebody else was faster
    "rate_limited",  # ask again after `retry_after` seconds
    "unavailable",  # the forge or the way to it is broken; ask again later
    "refused",  # the forge understood and says no
]


class ForgeError(Exception):
    """The forge refused or could not be reached; one sentence for the bot's operator, no token."""

    def __init__(
        self,
        message: str,
        kind: Kind = "refused",
        *,
        retry_after: float | None = None,
        token_refused: bool = False,
    ) -> None:
        """`retry_after` in seconds, where the forge gave it; `token_refused`: the forge does not
        take the token at all, so nothing works until it is renewed."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.token_refused = token_refused
