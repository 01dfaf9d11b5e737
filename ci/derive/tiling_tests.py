"""Shapes, dtypes and attributes that the host tests of a tiling spell out; only read, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from ci.derive.example_facts import Example, ToldTensor, length, shape_of
from ci.model.dtypes import find_dtype
from ci.source.cpp_text import closing, split_arguments

_COMMENTED = re.compile(r"^[ \t]*//[ \t]?", re.MULTILINE)
_RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
_TEST = re.compile(r"^[^\S\n]*TEST(?:_F|_P)?\s*\(", re.MULTILINE)
_HELPER = re.compile(r"^(?:static\s+|inline\s+)*(?:void|bool|auto)\s+(\w+)\s*(?=\()", re.MULTILINE)
_LENGTHS = r"[\w\s,*+/()-]*"
_STORAGE = re.compile(rf"\bStorageShape\s+(\w+)\s*(?:=\s*)?\{{\s*(?:\{{({_LENGTHS})\}}|(\w+)\s*,)")
_LIST = re.compile(
    rf"\b(?:vector|initializer_list)<\s*int64_t\s*>\s+(\w+)\s*=?\s*\{{({_LENGTHS})\}}"
)
_ORDER = re.compile(r"\.(Input|Output)Shapes\(\s*\{([^{}]*)\}")
_NODE_DTYPE = re.compile(r"\.Node(Input|Output)Td\(\s*(\d+)\s*,\s*(?:ge::)?(\w+)")
_DESCRIBED = re.compile(
    rf"\{{\s*\{{\s*\{{({_LENGTHS})\}}\s*,\s*\{{{_LENGTHS}\}}\s*\}}\s*,\s*(?:ge::)?(\w+)\s*,"
)
_ATTR = re.compile(
    r'\{\s*"(\w+)"\s*,\s*[\w:]*AnyValue::CreateFrom<[^()]*>\(\s*\{?((?:[^(){}]|\([^(){}]*\))*)\}?\s*\)'
)
_NAMED = re.compile(
    r"\b(?:(?:std::)?(?:string|vector<[\w\s:]+>)|float|double|bool|(?:const\s+)?char\s*\*)\s+(\w+)"
    r'\s*=?\s*(?:\{([^{}]*)\}|\(?("[^"\n]*"|[\w.-]+)\)?)\s*;'
)
"""A variable of a list, of a text or of another number than _NUMBER has, and what it holds."""
_NUMBER = re.compile(r"\b(?:u?int\d*(?:_t)?|size_t|(?:ge::)?DataType)\s+(\w+)\s*=\s*([^;{}]+?)\s*;")
_PLAIN = re.compile(r"[\w.:+* -]+")
_MOST_TESTS = 24
MOST_ELEMENTS = 1 << 22
"""Most elements of a tensor of a test that is taken over: tilings are tested on what nobody
simulates."""


def read_tests(text: str, inputs: Sequence[str], outputs: Sequence[str] = ()) -> list[Example]:
    """What the tests of a tiling say, tensors by the names of the `inputs` and `outputs` they stand
    for.

    Tests in comments count: they are taken as suggestions, and the tiling is asked. What a test
    gives to a function of its file is there in the place of the parameters.
    """
    plain = _RAW.sub('""', _COMMENTED.sub("", text))
    starts = [found.start() for found in _TEST.finditer(plain)]
    head = plain[: starts[0]] if starts else ""
    known = _variables(re.sub(r"^[ \t]+.*$", "", head, flags=re.MULTILINE))
    found: dict[tuple[ToldTensor, ...], Example] = {}
    for start, end in pairwise([*starts, len(plain)]):
        body = _with_helpers(plain[start:end], head)
        tensors = _test_tensors(body, inputs, outputs, known)
        told = [t for t in tensors if prod(t.shape) <= MOST_ELEMENTS]
        if told and len(found) < _MOST_TESTS:
            held = known | _variables(body)
            values = {name.lower(): _given(value, held) for name, value in _ATTR.findall(body)}
            found.setdefault(tuple(told), Example(tuple(told), values, "test"))
    return list(found.values())


def _variables(text: str) -> dict[str, str]:
    """What variables hold, by their lowered names."""
    named = [(name, held or plain) for name, held, plain in _NAMED.findall(text)]
    return {name.lower(): value.strip() for name, value in [*named, *_NUMBER.findall(text)]}


def _given(text: str, variables: dict[str, str]) -> str:
    """The value that a test gives to an attribute: names and products of them are worked out."""
    parts = []
    for part in variables.get(text.strip().lower(), text).split(","):
        plain = variables.get(part.strip().lower(), part).strip()
        count = length(plain, variables)
        parts.append(plain if count is None else str(count))
    return ", ".join(parts)


def _with_helpers(body: str, head: str) -> str:
    """A test with the bodies of the functions in `head` that it calls."""
    texts = [body]
    for helper in _HELPER.finditer(head):
        call = re.search(rf"\b{helper[1]}\s*(?=\()", body)
        end = closing(head, helper.end())
        opening = head.find("{", end)
        if call is None or end < 0 or opening < 0:
            continue
        inside = head[opening : closing(head, opening)]
        parameters = split_arguments(head[helper.end() + 1 : end])
        given = split_arguments(body[call.end() + 1 : closing(body, call.end())])
        for parameter, value in zip(parameters, given, strict=False):
            name = re.search(r"(\w+)\s*(?:=.*)?$", parameter)
            if name is not None and _PLAIN.fullmatch(value.strip()):
                inside = re.sub(rf"(?<![.\w]){name[1]}\b", value.strip(), inside)
        texts.append(inside)
    return "\n".join(texts)


def _test_tensors(
    body: str, inputs: Sequence[str], outputs: Sequence[str], known: dict[str, str]
) -> Iterator[ToldTensor]:
    sides = {"Input": inputs, "Output": outputs}
    values = known | _variables(body)
    lists = {name: shape_of(inner, values) for name, inner in _LIST.findall(body)}
    shapes = {
        name: lists.get(other) if other else shape_of(inner, values)
        for name, inner, other in _STORAGE.findall(body)
    }
    dtypes = {(side, int(n)): _dtype(word, values) for side, n, word in _NODE_DTYPE.findall(body)}
    ordered = dict(_ORDER.findall(body))
    for side, listed in ordered.items():
        # The nth shape is that of the nth input; dtypes count those that are there.
        given = [part.strip().lstrip("&") for part in listed.split(",") if part.strip()]
        present = [n for n, name in enumerate(given) if name in shapes]
        for at, n in enumerate(present):
            shape = shapes[given[n]]
            if n < len(sides[side]) and shape is not None:
                dtype = dtypes.get((side, at), "")
                yield ToldTensor(sides[side][n], shape, dtype, is_output=side == "Output")
    if ordered:
        return
    for side, described in zip(sides, _described_lists(body), strict=False):
        for name, one in zip(sides[side], described, strict=False):
            shape = shape_of(one[1], values)
            if shape is not None:
                dtype = _dtype(one[2], values)
                yield ToldTensor(name, shape, dtype, is_output=side == "Output")


def _described_lists(body: str) -> list[list[re.Match[str]]]:
    """Descriptions of tensors, those of one list together: where it ends, two braces close."""
    lists: list[list[re.Match[str]]] = []
    end = 0
    for one in _DESCRIBED.finditer(body):
        if not lists or body.count("}", end, one.start()) > 1:
            lists.append([])
        lists[-1].append(one)
        end = one.end()
    return lists


def _dtype(word: str, values: dict[str, str]) -> str:
    known = find_dtype(values.get(word.lower(), word))
    return known.name if known else ""
