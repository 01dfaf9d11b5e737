"""A kernel's entry as its source has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ci.model.errors import InputError
from ci.source.cpp_text import closing, global_functions, without_comments
from ci.source.device_half import without_attributes
from ci.source.op_classes import compiled_text, expanded

WHOLE = re.compile(
    r"(?:u?int(?:8|16|32|64)_t|(?:unsigned|signed)(?: (?:char|short|int|long|long long))?"
    r"|char|short|int|long|long long|size_t|ptrdiff_t|bool)"
)
REAL = re.compile(r"(?:half|float|double|bfloat16_t)")
_POINTER_WORDS = re.compile(r"\*|\bGM_ADDR\b")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|__gm__|__restrict__|__restrict)\b")
_NAMESPACE = re.compile(r"\bnamespace\s+(\w[\w:\s]*)\{")
_NAME = re.compile(r"(\w+)\s*(?:=.*)?$", re.DOTALL)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel's entry."""

    name: str
    type: str
    """The type as the source has it, without const and the like."""
    pointer: bool


@dataclass(frozen=True)
class KernelEntry:
    """The `__global__` function that a program launches."""

    name: str
    parameters: tuple[Parameter, ...]
    qualified: str
    """Its name with its namespaces."""
    marks: str
    """The words around its `__global__`."""
    template: tuple[str, ...]
    """The names of its template's parameters."""


def entry_in(path: Path, text: str, name: str) -> KernelEntry:
    """The entry `name` of a source, or its only one. Raises InputError."""
    functions = global_functions(expanded(compiled_text(without_attributes(text))))
    found = {one.name: one for one in functions}
    names = ", ".join(found)
    if not found:
        raise InputError(f"{path} defines no kernel: no __global__ function is in it.")
    if name and name not in found:
        raise InputError(f"{path} defines no kernel {name}; it has {names}.")
    if not name and len(found) > 1:
        raise InputError(
            f"{path} defines several kernels ({names}); say which one as launch.entry."
        )
    name = name or next(iter(found))
    parameters = tuple(_parameter(path, one) for one in found[name].parameters)
    return KernelEntry(
        name, parameters, qualified(text, name), found[name].marks, found[name].template
    )


def qualified(text: str, name: str) -> str:
    """A function's name with those of the namespaces around it.

    By brackets alone: what macros mark device functions with leads a parser astray.
    """
    code = without_comments(without_attributes(text))
    found = re.search(rf"\b__global__\b[^;{{}}]*?\b{name}\s*\(", code) or re.search(
        rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", code
    )
    if found is None:
        return name
    around = [
        " ".join(space.group(1).split())
        for space in _NAMESPACE.finditer(code, 0, found.start())
        if closing(code, space.end() - 1) > found.start()
    ]
    return "::".join((*around, name))


def _parameter(path: Path, text: str) -> Parameter:
    named = _NAME.search(text)
    if named is None or not text[: named.start()].strip():
        raise InputError(f"{path}: the kernel's parameter '{text}' has no name.")
    kind = _QUALIFIERS.sub(" ", text[: named.start()])
    return Parameter(
        named.group(1), " ".join(kind.split()), _POINTER_WORDS.search(text) is not None
    )
