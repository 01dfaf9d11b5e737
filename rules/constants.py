"""Loads `rules/constants.toml`: constants of the machine in the words of people who merge."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("constants.toml")


@cache
def constant_words() -> dict[str, str]:
    """By name or pattern of a constant, what its value {} means."""
    found: dict[str, str] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return found


def in_words(member: str, assumed: Mapping[str, float] | None = None) -> str:
    """A member of the ensemble as a clause: 'starting each further core takes 0.42 µs'.

    What moves no constant that is known here stays as it is, such as 'warm'. `assumed`: values of
    the constants, which are then told beside the moved one.
    """
    for sign in (" = ", " x "):
        name, found, value = member.partition(sign)
        if found and name in constant_words():
            own = (assumed or {}).get(name)
            beside = "" if own is None else f" instead of {_shown(own)}"
            return constant_words()[name].format(value + beside)
    return member


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"
