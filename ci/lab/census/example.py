"""Shapes and dtypes of an operator's example program, where it spells them out.

Operator repositories show how to call an operator in a small program that creates its tensors one
after the other. That program is only read, as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ci.model.dtypes import find_dtype
from ci.model.operator import Operator

_CREATED = re.compile(
    r"\bCreateAclTensor\w*\s*\(\s*[\w.&]+\s*,\s*(?P<shape>\w+)\s*,\s*&?\w+\s*,\s*"
    r"(?:aclDataType::)?ACL_(?P<dtype>\w+)\s*,"
)
_SHAPE = re.compile(r"\bvector<\s*int64_t\s*>\s+(\w+)\s*(?:=\s*)?\{([\d\s,]*)\}")
_SCALAR = re.compile(
    r"\b(?:u?int\d*(?:_t)?|float|double|bool|char\s*\*)\s+(\w+)\s*(?:=\s*|\{)([^;{}]+?)\}?\s*;"
)
_LIST = re.compile(r"\bvector<[\w\s]+>\s+(\w+)\s*(?:=\s*)?\{([^{}]*)\}")
_DTYPES = {"BF16": "bfloat16", "DOUBLE": "float64"}
_MOST_FILES = 6


@dataclass(frozen=True)
class Example:
    """What one example program says."""

    tensors: tuple[tuple[str, tuple[int, ...], str], ...]
    """(name of the shape variable, shape, dtype) in the order of creation."""
    values: dict[str, str]
    """Initial values of plain variables, by lowered name; lists as their inner text."""


def find_examples(operator: Operator) -> list[Example]:
    """What the example programs of `operator` say, those with tensors only."""
    found = []
    for path in sorted((operator.root / "examples").rglob("*.cpp"))[:_MOST_FILES]:
        if path.resolve().is_relative_to(operator.root.resolve()):
            example = read_example(path.read_text(encoding="utf-8", errors="replace"))
            if example.tensors:
                found.append(example)
    return found


def read_example(text: str) -> Example:
    """Tensors and values of one example program."""
    shapes = {
        name: tuple(int(n) for n in numbers.replace(" ", "").split(",") if n.strip())
        for name, numbers in _SHAPE.findall(text)
    }
    tensors = []
    for made in _CREATED.finditer(text):
        dtype = find_dtype(_DTYPES.get(made["dtype"], made["dtype"].lower()))
        if made["shape"] in shapes and dtype is not None:
            tensors.append((made["shape"], shapes[made["shape"]], dtype.name))
    values = {name.lower(): value.strip() for name, value in _SCALAR.findall(text)}
    values |= {name.lower(): inner.strip() for name, inner in _LIST.findall(text)}
    return Example(tuple(tensors), values)
