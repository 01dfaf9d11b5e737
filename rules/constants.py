"""Loads `rules/constants.toml`: constants of the machine in words for people who merge."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from ci.model.ensemble import CONDITIONS, is_joint
from ci.model.uncertainty import TOGETHER

FILE: Final = Path(__file__).with_name("constants.toml")


@cache
def constant_words() -> dict[str, str]:
    """The clause for each constant, by its name or pattern; {} stands for the value."""
    found: dict[str, str] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return found


def in_words(member: str, assumed: Mapping[str, float] | None = None) -> str:
    """A member of the ensemble as a clause: 'issue queue depth is 8 (default 16)'.

    A member that moves no known constant, such as 'warm', is returned unchanged. `assumed`: default
    values by name, which the clause then gives in brackets.
    """
    for sign in (" = ", " x "):
        name, found, value = member.partition(sign)
        if found and name in constant_words():
            own = (assumed or {}).get(name)
            default = "" if own is None else f" (default {_shown(own)})"
            return constant_words()[name].format(value) + default
    return member


def where(member: str) -> str:
    """The member as a place of a figure: 'if MTE2 latency is 240 cycles'."""
    if member in CONDITIONS:
        return f"in the start state '{member}'"
    if is_joint(member):
        return "with all constants moved at once"
    return f"with {member}" if member == TOGETHER else f"if {in_words(member)}"


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"
