"""Secrets, masked before anything is stored, logged or said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import SecretStr

MASK = "[secret]"
SHORTEST = 6
"""A key of fewer characters would mask ordinary words; no provider gives one."""

# What keys look like at the providers we know, and what follows an authorization header.
_LOOKS = re.compile(
    r"\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|(?<=Bearer )[A-Za-z0-9._~+/-]{8,}=*"
)


class Mask:
    """Replaces known keys, and what looks like one, in texts."""

    def __init__(self, secrets: Iterable[SecretStr | None] = ()) -> None:
        values = {s.get_secret_value() for s in secrets if s is not None}
        self._known = sorted((v for v in values if len(v) >= SHORTEST), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for value in self._known:
            text = text.replace(value, MASK)
        return _LOOKS.sub(MASK, text)
