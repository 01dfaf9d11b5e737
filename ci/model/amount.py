"""A number with the word for what it counts, in the singular where it is one."""

from __future__ import annotations


def amount(number: int, one: str, many: str = "") -> str:
    """Return `number` and its word: `1 core`, `2,048 cores`.

    `one`: the word for one of them; `many`: for several, by default with an s. Either may have more
    words, so that a verb agrees: `amount(n, "case is", "cases are")`.
    """
    return worded_amount(f"{number:,}", one, many or f"{one}s")


def worded_amount(number: object, one: str, many: str) -> str:
    """Return `number`, written as it is given, and the word that fits it."""
    return f"{number} {one if str(number) == '1' else many}"
