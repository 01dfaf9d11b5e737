"""Shapes, dtypes and values that example programs and host tests of an operator spell out.

Operator repositories show how to call an operator in a small program that creates its tensors one
after the other, and test a tiling on shapes that reach its keys. Both are only read, as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ci.model.dtypes import find_dtype
from ci.model.operator import Operator

_CREATED = re.compile(
    r"\bCreateAclTensor\w*\s*\(\s*(?P<data>[\w.&]+)\s*,\s*(?P<shape>\w+)\s*,\s*&?\w+\s*,\s*"
    r"(?:aclDataType::)?ACL_(?P<dtype>\w+)\s*,"
)
_SHAPE = re.compile(r"\bvector<\s*int64_t\s*>\s+(\w+)\s*(?:=\s*)?\{([\w\s,*]*)\}")
_SCALAR = re.compile(
    r"\b(?:u?int\d*(?:_t)?|float|double|bool|char\s*\*)\s+(\w+)\s*(?:=\s*|\{)([^;{}]+?)\}?\s*;"
)
_LIST = re.compile(r"\bvector<[\w\s:]+>\s+(\w+)\s*(?:=\s*)?\{([^{}]*)\}")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DTYPES = {"BF16": "bfloat16", "DOUBLE": "float64"}
_MOST_FILES = 6

_COMMENTED = re.compile(r"^[ \t]*//[ \t]?", re.MULTILINE)
_TEST = re.compile(r"^\s*TEST(?:_F|_P)?\s*\(", re.MULTILINE)
_STORAGE = re.compile(r"\bStorageShape\s+(\w+)\s*(?:=\s*)?\{\s*\{([\d\s,]*)\}")
_ORDER = re.compile(r"\.InputShapes\(\s*\{([^{}]*)\}")
_NODE_DTYPE = re.compile(r"\.NodeInputTd\(\s*(\d+)\s*,\s*(?:ge::)?(DT_\w+)")
_DESCRIBED = re.compile(
    r"\{\s*\{\s*\{([\d\s,]*)\}\s*,\s*\{[\d\s,]*\}\s*\}\s*,\s*(?:ge::)?(DT_\w+)\s*,"
)
_ATTR = re.compile(
    r'\{\s*"(\w+)"\s*,\s*[\w:]*AnyValue::CreateFrom<[^()]*>\(\s*\{?([^(){}]*)\}?\s*\)'
)
_MOST_TESTS = 24
MOST_ELEMENTS = 1 << 22
"""Of a tensor of a test that is taken over: tilings are tested on what nobody simulates."""


@dataclass(frozen=True)
class ToldTensor:
    """A tensor that a program creates."""

    name: str
    """Of its shape variable."""
    shape: tuple[int, ...]
    dtype: str
    """'' where it is not told."""
    data: tuple[float, ...] = ()
    """Its values in order, where they are spelled out."""


@dataclass(frozen=True)
class Example:
    """What one example program, or one test, says."""

    tensors: tuple[ToldTensor, ...]
    """In the order of creation."""
    values: dict[str, str]
    """Initial values of plain variables, by lowered name; lists as their inner text."""
    source: str = "example"


def find_examples(operator: Operator) -> list[Example]:
    """What examples and host tests of `operator` say, those with tensors only."""
    found = [
        example
        for text in _texts(operator, "examples", "*.cpp", _MOST_FILES)
        if (example := read_example(text)).tensors
    ]
    names = [spec.name for spec in operator.inputs]
    for text in _texts(operator, "tests", "*tiling*.cpp", _MOST_FILES):
        found += read_tests(text, names)
    return found


def _texts(operator: Operator, folder: str, pattern: str, most: int) -> list[str]:
    root = operator.root.resolve()
    return [
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted((root / folder).rglob(pattern))[:most]
        if path.resolve().is_relative_to(root)
    ]


def read_example(text: str) -> Example:
    """Tensors and values of one example program."""
    values = {name.lower(): value.strip() for name, value in _SCALAR.findall(text)}
    lists = {name: inner.strip() for name, inner in _LIST.findall(text)}
    shapes = {name: _shape(inner, values) for name, inner in _SHAPE.findall(text)}
    tensors = []
    for made in _CREATED.finditer(text):
        dtype = find_dtype(_DTYPES.get(made["dtype"], made["dtype"].lower()))
        shape = shapes.get(made["shape"])
        if shape is not None and dtype is not None:
            data = _numbers(lists.get(made["data"], ""))
            tensors.append(ToldTensor(made["shape"], shape, dtype.name, data))
    return Example(tuple(tensors), values | {n.lower(): inner for n, inner in lists.items()})


def _shape(text: str, values: dict[str, str]) -> tuple[int, ...] | None:
    """The lengths in a brace list of numbers, names of numbers and products of them."""
    lengths = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        length = 1
        for factor in item.split("*"):
            number = values.get(factor.strip().lower(), factor.strip())
            if not number.isdecimal():
                return None
            length *= int(number)
        lengths.append(length)
    return tuple(lengths)


def _numbers(text: str) -> tuple[float, ...]:
    parts = [p.strip().rstrip("fFuUlL") for p in text.split(",") if p.strip()]
    words = {"true": "1", "false": "0"}
    plain = [words.get(p, p) for p in parts]
    return tuple(map(float, plain)) if all(_NUMBER.fullmatch(p) for p in plain) else ()


def read_tests(text: str, inputs: Sequence[str]) -> list[Example]:
    """What the tests of a tiling say, tensors by the names of the `inputs` they stand for.

    Tests in comments count: they are taken as suggestions, and the tiling is asked.
    """
    plain = _COMMENTED.sub("", text)
    starts = [found.start() for found in _TEST.finditer(plain)]
    found: dict[tuple[ToldTensor, ...], Example] = {}
    for start, end in pairwise([*starts, len(plain)]):
        body = plain[start:end]
        told = [t for t in _test_tensors(body, inputs) if _elements(t.shape) <= MOST_ELEMENTS]
        if told and len(found) < _MOST_TESTS:
            values = {name.lower(): value.strip() for name, value in _ATTR.findall(body)}
            found.setdefault(tuple(told), Example(tuple(told), values, "test"))
    return list(found.values())


def _test_tensors(body: str, inputs: Sequence[str]) -> list[ToldTensor]:
    shapes = {name: _shape(inner, {}) for name, inner in _STORAGE.findall(body)}
    order = _ORDER.search(body)
    dtypes = {int(n): _dtype(macro) for n, macro in _NODE_DTYPE.findall(body)}
    if order is not None:
        # The nth shape is that of the nth input; dtypes count those that are there.
        given = [part.strip().lstrip("&") for part in order[1].split(",") if part.strip()]
        present = [n for n, name in enumerate(given) if name in shapes]
        return [
            ToldTensor(inputs[n], shape, dtypes.get(at, ""))
            for at, n in enumerate(present)
            if n < len(inputs) and (shape := shapes[given[n]]) is not None
        ]
    described = [(_shape(inner, {}), _dtype(macro)) for inner, macro in _DESCRIBED.findall(body)]
    return [
        ToldTensor(name, shape, dtype)
        for name, (shape, dtype) in zip(inputs, described, strict=False)
        if shape is not None
    ]


def _dtype(macro: str) -> str:
    known = find_dtype(macro)
    return known.name if known else ""


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count
