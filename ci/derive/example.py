"""Shapes, dtypes and values of example programs and host tests of an operator.

Operator repositories show how to call an operator in a small program, and test a tiling on shapes
that reach its keys. A program is run (`example_run.py`); where that fails, and for tests, what the
text spells out counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from ci.derive.example_calls import called_examples
from ci.derive.example_facts import Example, ToldTensor, shape_of
from ci.derive.program import MAIN, program_of
from ci.derive.project import own_calls, texts_around
from ci.derive.tiling_tests import read_tests
from ci.model.dtypes import find_dtype
from ci.model.errors import InputError
from ci.model.folder_walk import files_below
from ci.model.operator import Operator
from ci.model.regular_file import file_text

_CREATED = re.compile(
    r"\bCreateAclTensor\w*\s*\(\s*(?P<data>[\w.&]+)\s*,\s*(?P<shape>\w+)\s*,\s*&?\w+\s*,\s*"
    r"(?:aclDataType::)?ACL_(?P<dtype>\w+)\s*,"
)
_DESCRIBED = re.compile(
    r"\b\w+\(\s*(?:aclDataType::)?(?P<dtype>\w+)\s*,"
    r"\s*(?P<shape>\w+)\.size\(\)\s*,\s*(?P=shape)\.data\(\)"
)
"""A call that is given a dtype and how many lengths there are where, as descriptions are made."""
_DTYPE = re.compile(r"\baclDataType\s+(\w+)\s*=\s*(?:aclDataType::)?(ACL_\w+)")
_MEMBER = re.compile(r"\b\w+\.(\w+)\s*=\s*([^=;{}][^;{}]*);")
_SHAPE = re.compile(r"\bvector<\s*int64_t\s*>\s+(\w+)\s*(?:=\s*)?\{([\w\s,*+/()-]*)\}")
_OF_SHAPE = re.compile(r"shape\d*$", re.IGNORECASE)
_SCALAR = re.compile(
    r"\b(?:u?int\d*(?:_t)?|float|double|bool|char\s*\*)\s+(\w+)\s*(?:=\s*|\{)([^;{}]+?)\}?\s*;"
)
_LIST = re.compile(r"\bvector<[\w\s:]+>\s+(\w+)\s*(?:=\s*)?\{([^{}]*)\}")
_TEXT = re.compile(
    r"\b(?:char|string)\s*\*?\s*(\w+)\s*(?:\[\w*\])?\s*(?:=\s*|\()?\{?\s*"
    r"""("[^"\n]*"|'.'(?:\s*,\s*(?:'.'|0|'\\0'))*)"""
)
"""Characters that a variable holds: between quotes, or one after the other."""
_ARRAY = re.compile(r"\b(\w+)\s*=\s*aclCreate(?:Int|Float|Bool)Array\s*\(\s*(\w+)\.data\(\)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DTYPES = {"BF16": "bfloat16", "DOUBLE": "float64"}
_MOST_FILES = 6
_MOST_BYTES = 1 << 20


def find_examples(operator: Operator) -> list[Example]:
    """What examples and host tests of `operator` say, those with tensors only."""
    found = list(_examples(operator, _texts(operator, "examples", "*.cpp")))
    found = found or list(islice(_examples(operator, texts_around(operator, ".cpp")), _MOST_FILES))
    names = [spec.name for spec in operator.inputs], [spec.name for spec in operator.outputs]
    for _, text in _texts(operator, "tests", "*tiling*.cpp"):
        found += read_tests(text, *names)
    return found


def _examples(operator: Operator, texts: Iterable[tuple[Path, str]]) -> Iterator[Example]:
    """What each program gives to the operator when it is run, else what its text says.

    Where folders have a call of its own name, their programs come alone: the others are those of
    its neighbours.
    """
    top = operator.repository or operator.root.resolve()
    named = own_calls(operator)
    known = list(texts)
    own = {path.parent for path, text in known if named.search(text)}
    for path, text in known:
        if own and path.parent not in own:
            continue
        program = program_of(top, path, text) if MAIN.search(text) else None
        called = called_examples(operator, program) if program else []
        yield from (one for one in called or [read_example(text)] if one.tensors)


def _texts(operator: Operator, folder: str, pattern: str) -> list[tuple[Path, str]]:
    root = operator.root.resolve()
    found: list[tuple[Path, str]] = []
    named = [p for p in files_below(root / folder) if fnmatch(p.name, pattern)]
    for path in named[:_MOST_FILES]:
        with suppress(InputError, OSError):
            found.append((path, file_text(path, root, most_bytes=_MOST_BYTES)))
    return found


def read_example(text: str) -> Example:
    """Tensors and values of one example program."""
    scalars = [*_MEMBER.findall(text), *_SCALAR.findall(text)]
    values = {name.lower(): value.strip() for name, value in scalars}
    lists = {name: inner.strip() for name, inner in _LIST.findall(text)}
    shapes = {name: shape_of(inner, values) for name, inner in _SHAPE.findall(text)}
    tensors = []
    for made in _CREATED.finditer(text):
        dtype = find_dtype(_DTYPES.get(made["dtype"], made["dtype"].lower()))
        shape = shapes.get(made["shape"])
        if shape is not None and dtype is not None:
            data = _numbers(lists.get(made["data"], ""))
            tensors.append(ToldTensor(made["shape"], shape, dtype.name, data))
    dtypes = dict(_DTYPE.findall(text))
    for made in () if tensors else _DESCRIBED.finditer(text):
        name = str(dtypes.get(made["dtype"], made["dtype"])).removeprefix("ACL_")
        dtype, shape = find_dtype(_DTYPES.get(name, name.lower())), shapes.get(made["shape"])
        if shape is not None and dtype is not None:
            tensors.append(ToldTensor(made["shape"], shape, dtype.name))
    if not tensors:  # what builds a graph makes tensors in ways of its own; it names their shapes
        named = {name: shape for name, shape in shapes.items() if shape and _OF_SHAPE.search(name)}
        tensors = [ToldTensor(name, shape, "") for name, shape in named.items()]
    texts = {name.lower(): _characters(inner) for name, inner in _TEXT.findall(text)}
    arrays = tuple(
        ToldTensor(name, (len(data),), "int64", data)
        for name, held in _ARRAY.findall(text)
        if (data := _counted(lists.get(held, ""), values))
    )
    known = values | {n.lower(): inner for n, inner in lists.items()} | texts
    known |= {one.name.lower(): ", ".join(f"{n:g}" for n in one.data) for one in arrays}
    return Example(tuple(tensors), known, arrays=arrays)


def _counted(text: str, values: dict[str, str]) -> tuple[float, ...]:
    """The numbers of a list: as they are, or products and sums of named ones."""
    return _numbers(text) or tuple(map(float, shape_of(text, values) or ()))


def _characters(text: str) -> str:
    """The characters in quotes, whatever way they are spelled out."""
    if text.startswith('"'):
        return text
    return '"' + "".join(re.findall(r"'([^'\\])'", text)) + '"'


def _numbers(text: str) -> tuple[float, ...]:
    parts = [p.strip().rstrip("fFuUlL") for p in text.split(",") if p.strip()]
    words = {"true": "1", "false": "0"}
    plain = [words.get(p, p) for p in parts]
    return tuple(map(float, plain)) if all(_NUMBER.fullmatch(p) for p in plain) else ()
