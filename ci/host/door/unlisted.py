"""Constants that the toolkit's headers leave visible and that no documentation names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

LIST = Path(__file__).with_name("unlisted.yml")
_NOT_FOUND = re.compile(r"'(?:\w+::)*(\w+)' was not declared in this scope|'(\w+)' is not a member")


@cache
def unlisted() -> Mapping[str, str]:
    """The C++ declaration of each constant, by its name."""
    listed: Mapping[str, list[str | int]] = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {
        name: f"namespace AscendC {{ constexpr {kind} {name} = {value}; }} using AscendC::{name};"
        for name, (kind, value) in listed.items()
    }


def wanted(said: str) -> tuple[str, ...]:
    """The names of such constants that a compiler's text misses, in order."""
    return tuple(name for name in missing_names(said) if name in unlisted())


def missing_names(said: str) -> list[str]:
    """The names that a compiler's text says are declared nowhere, each once."""
    found = (one for pair in _NOT_FOUND.findall(said) for one in pair if one)
    return list(dict.fromkeys(found))
