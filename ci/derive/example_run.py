"""Runs a program that calls an operator, and writes down what it hands over.

Operator repositories show how an operator is called in a small program: it makes tensors, fills
them, and calls the operator in two steps, of which the first is given everything. Here the program
is compiled against a runtime that launches nothing (`standin/runtime.h`), and run in the sandbox.
So shapes, dtypes, values and attributes are what the program computes, however it is written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from ci.model.errors import InputError
from ci.source.readable_files import shown
from ci.system.cache import BuildCache, digest
from ci.system.candidate_compiler import COMPILE_LIMITS, compile_command
from ci.system.compiler import compile_trusted, compiler_version
from ci.system.sandbox import Limits, run
from ci.system.scratch import scratch

_RUNTIME: Final = Path(__file__).parent / "standin" / "runtime.h"
_FLAGS: Final = ("-std=c++17", "-O0", "-w", "-fpermissive")
_RUN_LIMITS: Final = Limits(seconds=20, memory_bytes=8 << 30, file_bytes=16 << 20)
_MOST_TRIES: Final = 4
"""Times that a program is compiled: each time with more of what the compiler missed."""
_MOST_CALLS: Final = 8

_CALLED = re.compile(r"\b(aclnn\w+)GetWorkspaceSize\s*\(")
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


class Call(BaseModel):
    """The first of the two calls of an operator."""

    model_config = ConfigDict(frozen=True)

    name: str
    """The function's, without GetWorkspaceSize: aclnnMuls."""
    spelled: str
    """The arguments as the program writes them."""
    arguments: tuple[Argument, ...]


def calls_of(program: Path, text: str) -> list[Call]:
    """The calls that a program makes, in order; none where it does not compile or run here.

    `text` is the program's. The compiler sees the files of its folder and the system's headers;
    what else it includes is empty. Raises EnvironmentProblem without a compiler.
    """
    if not _CALLED.search(text):
        return []
    with scratch("example") as top:
        place = Path(top)
        (place / "program.cpp").write_text(_watched(text), encoding="utf-8")
        for name in _INCLUDED.findall(text):
            _lay_empty(place / "absent", name, program.parent)
        if not _compiled(place, program.parent):
            return []
        # How it ends does not matter: each call is written when it is made.
        run([str(place / "program")], cwd=place, writable=[place], limits=_RUN_LIMITS)
        return _read(place / "calls.jsonl")


def _watched(text: str) -> str:
    """The program with its calls written down instead."""
    names = {*_CALLED.findall(text)}
    watched = _CALLED.sub(r"ASCENDOPT_CALLED(\1, ", text)
    for name in names:
        watched = re.sub(rf"\b{name}\s*\(", "ascendopt::executed(", watched)
    return watched


def _lay_empty(folder: Path, name: str, own: Path) -> None:
    """An empty header for one of a toolkit; the system's and the program's own come before it."""
    if ".." in Path(name).parts or Path(name).is_absolute() or (own / name).exists():
        return
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
                    *("program.cpp", "-o", "program"),
                ]
            ),
            cwd=place,
            readable=[runtime, *beside],
            writable=[place],
            limits=COMPILE_LIMITS,
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
        text = (place / "program.cpp").read_text(encoding="utf-8")
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
    try:
        with file.open("rb") as lines:
            for line, _ in zip(lines, range(_MOST_CALLS), strict=False):
                calls.append(Call.model_validate_json(line))
    except (OSError, ValidationError):
        pass
    return calls
