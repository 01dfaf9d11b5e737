"""Runs a program that calls an operator or launches a kernel, and writes down what it hands over.

Operator repositories show how an operator is called in a small program: it makes tensors, fills
them, and calls the operator in two steps, of which the first is given everything, or it launches
the kernel itself. Here the program is compiled without its device code against a runtime that
launches nothing (`standin/runtime.h`), and run in the sandbox. So shapes, dtypes, values and
attributes are what the program computes, however it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ci.model.errors import InputError
from ci.source.cpp_text import split_arguments
from ci.source.device_half import host_half
from ci.source.readable_files import shown
from ci.system.cache import BuildCache, digest
from ci.system.candidate_compiler import COMPILE_LIMITS, compile_command
from ci.system.compiler import compile_trusted, compiler_version
from ci.system.sandbox import Limits, run
from ci.system.scratch import scratch

_RUNTIME: Final = Path(__file__).parent / "standin" / "runtime.h"
_FLAGS: Final = ("-std=c++17", "-O0", "-w", "-fpermissive")
_RUN_LIMITS: Final = Limits(seconds=20, memory_bytes=8 << 30, file_bytes=16 << 20)
_COMPILE_LIMITS: Final = replace(COMPILE_LIMITS, seconds=60)
"""A program of the largest repositories takes two seconds."""
_MOST_TRIES: Final = 4
"""Times that a program is compiled: each time with more of what the compiler missed."""
_MOST_ROWS: Final = 64

_CALLED = re.compile(r"\b(aclnn\w+)GetWorkspaceSize\s*\(")
LAUNCH = re.compile(r"\b(?P<kernel>[A-Za-z_]\w*)\s*(?:<(?P<template>[^<>;{}()]*)>\s*)?<<<")
"""The launch of a kernel, up to its configuration."""
_GIVEN = re.compile(r"\s*\(\s*(\)?)")
_BY_CALL: Final = r'ascendopt::launched_in("\1", '
_BY_MACRO = re.compile(r"\bACLRT_LAUNCH_KERNEL\s*\(\s*(\w+)\s*\)\s*\(")
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([\w./+-]+)[">]', re.MULTILINE)
_UNKNOWN = re.compile(
    r"error: .(?P<name>[A-Za-z_]\w*). (?:was not declared|has not been declared)"
    r"|error: .(?P<type>[A-Za-z_]\w*). does not name a type"
)


class GivenTensor(BaseModel):
    """A tensor or a scalar that a program made."""

    model_config = ConfigDict(frozen=True)

    dtype: str
    """The runtime's name without ACL_; empty where the stand-in does not know it."""
    shape: tuple[int, ...] = ()
    values: tuple[float | None, ...] = ()
    """Its values in order, None for what is no number; empty where they are too many, or of a dtype
    that is not read."""
    range: tuple[float | None, float | None] | None = None
    """Its least and its largest value, where `values` would be too many."""


class GivenBuffer(BaseModel):
    """Memory of the device that a launch is given the address of."""

    model_config = ConfigDict(frozen=True)

    number: int
    bytes: int
    """How many there are from the address on."""
    filled: bool
    """Whether the program copied anything there before the launch."""
    values: tuple[int, ...] = ()
    """Each byte; empty where they are too many, or nothing was filled in."""
    range: tuple[int, int] | None = None


class Argument(BaseModel):
    """One thing that a call is given: the field of its kind is set, none for what is not read."""

    model_config = ConfigDict(frozen=True)

    null: bool = False
    tensor: GivenTensor | None = None
    scalar: GivenTensor | None = None
    tensors: tuple[GivenTensor | None, ...] | None = None
    scalars: tuple[GivenTensor | None, ...] | None = None
    array: tuple[bool | int | float | None, ...] | None = None
    text: str | None = None
    number: bool | int | float | None = None
    buffer: GivenBuffer | None = None
    fields: dict[str, bool | int | float | tuple[int | float | None, ...] | None] | None = None
    """A structure given by value; None for a field that is no number and no list of them."""


class Call(BaseModel):
    """The first of the two calls of an operator, or a launch of a kernel."""

    model_config = ConfigDict(frozen=True)

    name: str
    """The function's, without GetWorkspaceSize: aclnnMuls; or the kernel's."""
    spelled: str = ""
    """The arguments as the program writes them."""
    template: str = ""
    """The template arguments of a launch, each with a comma: numbers, and types as spelled."""
    blocks: int | None = None
    """How many are launched; None for a call of an operator."""
    arguments: tuple[Argument, ...]
    taken: frozenset[int] = frozenset()
    """Numbers of the buffers that the program copies back afterwards."""


class _Taken(BaseModel):
    taken: int


_ROW: TypeAdapter[Call | _Taken] = TypeAdapter(Call | _Taken)


Structures: TypeAlias = Mapping[str, Sequence[str]]
"""The fields of structures, by the names of these."""


def calls_of(
    program: Path, text: str, *others: str, structures: Structures = MappingProxyType({})
) -> list[Call]:
    """The calls and launches that a program makes, in order; none where it does not compile or run.

    `text` is the program's, `others` are texts that are linked to it, and `structures` what any of
    these gives to a kernel by value. The compiler sees the files of the program's folder and the
    system's headers; what else it includes is empty. Raises EnvironmentProblem without a compiler.
    """
    if not any(
        word.search(one) for word in (_CALLED, LAUNCH, _BY_MACRO) for one in (text, *others)
    ):
        return []
    with scratch("example") as top:
        place = Path(top)
        for number, one in enumerate((text, *others)):
            described = "".join(_described(name, structures[name]) for name in structures)
            watched = f"{_watched(one)}\n{described if LAUNCH.search(one) else ''}"
            (place / f"program{number}.cpp").write_text(watched, encoding="utf-8")
            for name in _INCLUDED.findall(one):
                _lay_empty(place / "absent", name, program.parent)
        if not _compiled(place, program.parent):
            return []
        # How it ends does not matter: each call is written when it is made.
        run([str(place / "program")], cwd=place, writable=[place], limits=_RUN_LIMITS)
        return _read(place / "calls.jsonl")


def _watched(text: str) -> str:
    """The host's half of a program, with its calls and launches written down instead."""
    names = {*_CALLED.findall(text)}
    watched = _CALLED.sub(r"ASCENDOPT_CALLED(\1, ", text)
    for name in names:
        watched = re.sub(rf"\b{name}\s*\(", "ascendopt::executed(", watched)
    return host_half("".join(_without_launches(_BY_MACRO.sub(_BY_CALL, watched))))


def _without_launches(text: str) -> Iterator[str]:
    """The parts of a text in which each launch is a call instead."""
    done = 0
    while launch := LAUNCH.search(text, done):
        end = text.find(">>>", launch.end())
        given = _GIVEN.match(text, end + 3) if end >= 0 else None
        if given is None:
            break
        blocks = split_arguments(text[launch.end() : end])[0]
        template = "std::string()" + "".join(
            f' + ascendopt::part<{one}>("{one}")'
            for one in map(str.strip, split_arguments(launch["template"] or ""))
            if one and '"' not in one
        )
        yield text[done : launch.start()]
        yield f'ascendopt::launched("{launch["kernel"]}", {template}, ({blocks})'
        yield ")" if given[1] else ", "
        done = given.end()
    yield text[done:]


def _described(name: str, fields: Sequence[str]) -> str:
    """A function that writes the fields of a structure down; found by the structure's type."""
    each = "".join(f' ascendopt::field(row, "{one}", value.{one});' for one in fields)
    return f"inline void ascendopt_fields(ascendopt::Row& row, const {name}& value) {{{each} }}\n"


def _lay_empty(folder: Path, name: str, own: Path) -> None:
    """An empty header for one of a toolkit; the system's and the program's own come before it."""
    if ".." in Path(name).parts or Path(name).is_absolute():
        return
    with suppress(OSError):  # a name that no file can have
        if not (own / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()


def _compiled(place: Path, own: Path) -> bool:
    """Compile the program; whether that worked.

    What the compiler does not know of the toolkit is made up, and tried again: numbers, types
    without members, functions that answer success.
    """
    runtime = _runtime()
    try:
        beside = shown(own)
    except InputError:  # a folder of too many files
        return False
    known = place / "known.h"
    known.write_text("")
    made: set[str] = set()
    for _ in range(_MOST_TRIES):
        done = run(
            compile_command(
                [
                    *(*_FLAGS, "-fmax-errors=40"),
                    *("-include", str(runtime / "runtime.h"), "-include", str(known)),
                    *("-iquote", str(own), "-idirafter", str(place / "absent")),
                    *sorted(one.name for one in place.glob("program*.cpp")),
                    *("-o", "program"),
                ]
            ),
            cwd=place,
            readable=[runtime, *beside],
            writable=[place],
            limits=_COMPILE_LIMITS,
        )
        if done.ok:
            return True
        missed = {
            found["type"] or found["name"]: bool(found["type"])
            for found in _UNKNOWN.finditer(done.stderr.decode(errors="replace"))
        }
        new = {name: is_type for name, is_type in missed.items() if name not in made}
        if not new:
            return False
        made |= new.keys()
        text = "\n".join(one.read_text(encoding="utf-8") for one in place.glob("program*.cpp"))
        with known.open("a", encoding="utf-8") as file:
            file.writelines(_made_up(name, is_type, text) for name, is_type in new.items())
    return False


def _runtime() -> Path:
    """The folder of the stand-in, compiled once for all programs."""

    def make(folder: Path) -> None:
        (folder / _RUNTIME.name).write_bytes(_RUNTIME.read_bytes())
        output = folder / f"{_RUNTIME.name}.gch"
        compile_trusted([*_FLAGS, "-x", "c++-header", _RUNTIME.name, "-o", str(output)], folder)

    key = digest([compiler_version(), *_FLAGS, _RUNTIME.read_bytes()])
    return BuildCache().get("example_runtime", key, make)


def _made_up(name: str, is_type: bool, text: str) -> str:
    if re.search(rf"\b{name}\s*\(", text):
        return f"inline int {name}(...) {{ return 0; }}\n"
    if is_type or re.search(rf"\b{name}\s*[*&\w]", text):
        return f"using {name} = void*;\n"
    return f"constexpr int {name} = __COUNTER__ + 1000;\n"


def _read(file: Path) -> list[Call]:
    """What the program wrote, as far as it is whole: the program may have been ended."""
    calls: list[Call] = []
    taken: set[int] = set()
    try:
        with file.open("rb") as lines:
            for line, _ in zip(lines, range(_MOST_ROWS), strict=False):
                row = _ROW.validate_json(line)
                if isinstance(row, Call):
                    calls.append(row)
                else:
                    taken.add(row.taken)
    except (OSError, ValidationError):
        pass
    return [call.model_copy(update={"taken": frozenset(taken)}) for call in calls]
