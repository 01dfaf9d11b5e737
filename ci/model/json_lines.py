"""Files with a JSON object a line."""

from __future__ import annotations


def json_lines(text: str) -> list[str]:
    """The lines. Only a line feed ends one: any other separator is a part of a string."""
    return text.removesuffix("\n").split("\n") if text else []
