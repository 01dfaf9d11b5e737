"""What a command prints: words for a person or JSON for a program, never orders to a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import click

# Control, format (bidirectional, zero width), private-use and surrogate characters.
_INVISIBLE: Final = ("Cc", "Cf", "Co", "Cs")
# What a line begins with that a runner of a CI takes for an order.
_ORDER: Final = re.compile(r"^(?=\s*(?:::|##\w*\[))", re.MULTILINE)


def harmless(text: str) -> str:
    """`text` with its lines and blanks, and every other invisible character as JSON spells it.

    A string of JSON keeps its meaning so. Nothing in it steers a terminal or the log of a CI.
    """
    shown = "".join(
        _spelled(c) if c not in "\n\t" and unicodedata.category(c) in _INVISIBLE else c
        for c in text
    )
    return _ORDER.sub("\u200b", shown)


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print `text` to stdout, or to stderr, with a line end where `nl` asks for one."""
    click.echo(harmless(text), err=err, nl=nl)


def _spelled(character: str) -> str:
    raw = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{raw[i : i + 4]}" for i in range(0, len(raw), 4))
