"""Numbers that are in sources: sizes and values at which a program may do something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from ci.model.operator import Operator

_NUMBER = r"(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)[uUlLfF]*"
_PRODUCT = re.compile(rf"(?<![\w.])-?{_NUMBER}(?:\s*(?:\*|<<)\s*{_NUMBER})*(?![\w.])")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MOST_SHIFT = 40


def changed_numbers(operator: Operator, files: Mapping[str, str]) -> tuple[float, ...]:
    """Return those of the lines that `files` change."""
    changed = [line for file, text in files.items() for line in _changed(operator, file, text)]
    return tuple(dict.fromkeys(_numbers(changed)))


def tiling_numbers(operator: Operator) -> tuple[float, ...]:
    """Return those of the original tiling."""
    return tuple(dict.fromkeys(_numbers(operator.read(s) for s in operator.tiling_sources)))


def kernel_numbers(operator: Operator) -> tuple[float, ...]:
    """Return those of the original kernel."""
    return tuple(dict.fromkeys(_numbers(operator.read(s) for s in operator.kernel_sources)))


def _changed(operator: Operator, file: str, text: str) -> Iterator[str]:
    known = file in operator.sources
    old = operator.read(file).splitlines() if known else []
    new = text.splitlines()
    for tag, _, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from new[first:last]


def _numbers(texts: Iterable[str]) -> Iterator[float]:
    for text in texts:
        for found in _PRODUCT.findall(_COMMENT.sub("", text)):
            value = _value(found)
            if value is not None:
                yield value


def _value(product: str) -> float | None:
    """The number that '8 * 1024' or '1 << 20' is; None where it is none that a size can be."""
    value: float = 1
    for operation, text in re.findall(r"(\*|<<|^)\s*(-?[\w.+-]+)", product):
        hexadecimal = text.lower().startswith("0x")
        digits = text.rstrip("uUlL") if hexadecimal else text.rstrip("uUlLfF")
        number = int(digits, 16) if hexadecimal else float(digits)
        if operation == "<<" and not 0 <= number <= _MOST_SHIFT:
            return None
        value *= 2.0**number if operation == "<<" else number
    return value
