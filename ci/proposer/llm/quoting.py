"""What marks text as somebody else's in a prompt: fences and backticks that nothing inside closes.

Whatever a prompt repeats can hold instructions: sources, names, comments, messages of
compilers, tuples of others, earlier answers of models. A template prints our own words as they are
and everything else quoted (`printed`), so that no field can be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


class Ours(str):
    """Text that a prompt may print as it is: written here, or marked as data already."""

    __slots__ = ()


def fenced(text: str, language: str = "") -> Ours:
    """`text` between fences that nothing inside can close."""
    fence = "`" * max(3, _longest(text) + 1)
    return Ours(f"{fence}{language}\n{text.rstrip()}\n{fence}")


def quoted(text: str) -> Ours:
    """`text` on one line between backticks that nothing inside can close."""
    if isinstance(text, Ours):
        return text
    line = "".join(c if c.isprintable() else " " for c in text).strip() or "(nothing)"
    ticks = "`" * (_longest(line) + 1)
    space = " " if "`" in (line[0], line[-1]) else ""
    return Ours(f"{ticks}{space}{line}{space}{ticks}")


def listed(texts: Iterable[str]) -> Ours:
    """Each of the texts quoted, with commas between them."""
    return Ours(", ".join(quoted(text) for text in texts))


def printed(value: object) -> object:
    """Return what a template prints of a value: of a text that nobody marked, the quoted one."""
    return quoted(value) if isinstance(value, str) else value


def _longest(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
