"""Loads the guards' rules: what a candidate's sources and built kernel may not contain."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file

FOLDER = Path(__file__).parent


class SourceRule(Frozen):
    """One rule of `source.yml`; the file's head says what each kind looks at."""

    id: str
    kind: Literal[
        "word",
        "call",
        "reserved",
        "include",
        "directive",
        "define",
        "attribute",
        "mark",
        "effect",
    ]
    message: str = Field(description="Finishes the sentence 'The candidate …'; {name} is filled.")
    patterns: tuple[str, ...] = Field(default=(), description="What is refused.")
    allow: tuple[str, ...] = Field(default=(), description="What alone is accepted.")
    scope: Literal["both", "kernel", "host"] = "both"
    baseline: Literal["none", "any", "count"] = Field(
        default="none", description="How far the unmodified operator's own uses excuse one."
    )
    members: bool = Field(default=True, description="Look at members (a.name, a->name) too.")

    def refuses(self, name: str) -> bool:
        """Whether `name` is against this rule, the operator's own uses apart."""
        if self.patterns:
            return _matcher(self.patterns).fullmatch(name) is not None
        return _matcher(self.allow).fullmatch(name) is None


class _SourceRules(Frozen):
    rules: tuple[SourceRule, ...]


class _Symbols(Frozen):
    priced: tuple[str, ...]
    allow: tuple[str, ...]
    inherited: tuple[str, ...]


@cache
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns))


@cache
def source_rules() -> tuple[SourceRule, ...]:
    """The rules of `source.yml`."""
    return read_file(_SourceRules, FOLDER / "source.yml").rules


@cache
def priced_symbols() -> tuple[str, ...]:
    """Functions of the C library that the machine charges for, of `symbols.yml`."""
    return read_file(_Symbols, FOLDER / "symbols.yml").priced


@cache
def allowed_symbols() -> re.Pattern[str]:
    """Symbols of `symbols.yml` that a built kernel may leave to the C and C++ libraries."""
    return _matcher(read_file(_Symbols, FOLDER / "symbols.yml").allow)


@cache
def inherited_symbols() -> re.Pattern[str]:
    """Return those that a candidate's kernel may leave to them where the unmodified kernel does."""
    return _matcher(read_file(_Symbols, FOLDER / "symbols.yml").inherited)
