"""Runs a program that calls an operator or launches a kernel, and writes down what it hands over.

Operator repositories show how an operator is called in a small program: it makes tensors, fills
them, and calls the operator in two steps, of which the first is given everything, or it makes a
graph of one, or it launches the kernel itself. Here the program is compiled without its device
code against a runtime that launches nothing (`standin/`), and run in the sandbox. So shapes,
dtypes, values and attributes are what the program computes, however it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ci.derive.data_script import made_data
from ci.derive.program import MAIN, Program
from ci.host.door.forwarding import forwarding
from ci.host.door.own import HEADERS as KERNEL_HEADERS
from ci.host.host_command import HOST
from ci.host.tiling_request import platform_facts
from ci.model import layout
from ci.model.errors import InputError
from ci.model.regular_file import file_text
from ci.model.settings import DEFAULT_DEVICE
from ci.simulator.toolchain import Toolchain
from ci.source.cpp_text import split_arguments, without_comments
from ci.source.device_half import host_half, without_definitions_at
from ci.source.readable_files import shown
from ci.system.cache import BuildCache, digest
from ci.system.candidate_compiler import COMPILE_LIMITS, compile_command
from ci.system.compiler import compile_trusted, compiler_version
from ci.system.sandbox import Limits, run
from ci.system.scratch import scratch
from rules.devices import load_device

_STANDIN: Final = Path(__file__).parent / "standin"
_PROGRAM: Final = "program.h"
_GRAPH: Final = "graph.h"
_TILING: Final = "tiling.h"
_FACTS: Final = "facts.o"
_SET_FACTS: Final = """
#include "detail/platform.h"
#include "runtime/runtime.h"
__attribute__((constructor)) static void set_facts() { host::current_platform().facts = {FACTS}; }
"""
_FLAGS: Final = ("-std=c++17", "-O0", "-w", "-fpermissive")
_RUN_LIMITS: Final = Limits(seconds=20, memory_bytes=8 << 30, file_bytes=16 << 20)
_COMPILE_LIMITS: Final = replace(COMPILE_LIMITS, seconds=60)
"""A program of the largest repositories takes two seconds."""
_MOST_TRIES: Final = 12
"""Times that a program is compiled: each time with more of what the compiler missed."""
_MOST_ROWS: Final = 64
_WHAT: Final = ("name", "arguments", "blocks", "template", "dtype", "shape", "bytes")
"""What says what something is: where runs differ in it, nothing is known of it."""
_MADE_UP: Final = 1_905_000_000
"""The first of the numbers that stand for unknown constants: none that a program writes, so that
what is one of them is not taken for its own. As a length it ends the program."""
_MOST_MADE_UP: Final = 1000
_MADE_UP_HEADER: Final = "ascendopt_made_up.h"
_MADE_UP_NUMBER = re.compile(r"^constexpr int (\w+) =", re.MULTILINE)

_CALLED = re.compile(r"\b(aclnn\w+)GetWorkspaceSize\s*\(")
_MAKES_GRAPH = re.compile(r"\bRunGraph(?:Async)?\s*\(")
LAUNCH = re.compile(r"\b(?P<kernel>[A-Za-z_]\w*)\s*(?:<(?P<template>[^<>;{}()]*)>\s*)?<<<")
"""The launch of a kernel, up to its configuration."""
_GIVEN = re.compile(r"\s*\(\s*(\)?)")
_BY_CALL: Final = r'ascendopt::launched_in("\1", '
_BY_MACRO = re.compile(r"\bACLRT_LAUNCH_KERNEL\s*\(\s*(\w+)\s*\)\s*\(")
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([\w./+-]+)[">]', re.MULTILINE)
_MISSING = re.compile(r"fatal error: ([\w./+-]+): No such file")
_NO_CLASS = re.compile(r"error: .(?P<name>\w+). is not a member of .(?:ge::)?op.")
_USED = re.compile(r"\bop::(\w+)")
_DECLARED = re.compile(r"\bREG_OP\s*\(\s*(\w+)\s*\)")
_NO_NAMESPACE = re.compile(r"error: .(\w+). is not a namespace-name")
_ERROR_AT = re.compile(r"^(program\d+\.cpp):(\d+):\d+: error", re.MULTILINE)
_SOURCES: Final = {
    "Data": "INPUT(x).OUTPUT(y).ATTR(index, Int)",
    "Const": "OUTPUT(y).ATTR(value, Tensor)",
    "Constant": "OUTPUT(y).ATTR(value, Tensor)",
    "Variable": "INPUT(x).OUTPUT(y).ATTR(index, Int).ATTR(value, Tensor)",
}
"""What gives a graph its tensors: array_ops.h of CANN."""
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
    zeroed: bool = False
    """Whether it set every byte to 0."""
    values: tuple[int, ...] = ()
    """Each byte; empty where they are too many, or nothing was filled in."""
    range: tuple[int, int] | None = None


class Argument(BaseModel):
    """One thing that a call is given: the field of its kind is set, none for what is not read."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    """The parameter's, where the program says it: in a graph."""
    is_output: bool = False
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
    words: tuple[int, ...] | None = None
    """Its bytes, four in a number; None for one that cannot be copied so."""


class Call(BaseModel):
    """The first of an operator's two calls, an operator of a graph, or a launch of a kernel."""

    model_config = ConfigDict(frozen=True)

    name: str
    """The function's, without GetWorkspaceSize: aclnnMuls; or the operator's or kernel's."""
    spelled: str = ""
    """The arguments as the program writes them."""
    template: str = ""
    """The template arguments of a launch, each with a comma: numbers, and types as spelled."""
    blocks: int | None = None
    """How many are launched; None for an operator."""
    arguments: tuple[Argument, ...]
    taken: frozenset[int] = frozenset()
    """Numbers of the buffers that the program copies back afterwards."""


class _Taken(BaseModel):
    taken: int


_ROW: TypeAdapter[Call | _Taken] = TypeAdapter(Call | _Taken)


class Recording(NamedTuple):
    """What a program did when it was run."""

    calls: list[Call]
    undefined: tuple[str, ...] = ()
    """Names of numbers that it is compiled with and that nothing defines."""


def calls_of(program: Program) -> list[Call]:
    """The calls and launches that a program makes, as `recording_of` does."""
    return recording_of(program).calls


def recording_of(program: Program) -> Recording:
    """The calls and launches that a program makes, in order; none where it does not compile or run.

    The compiler sees the files of the program's folder, its include folders and the system's
    headers; what else it includes is empty. Raises EnvironmentProblem without a compiler.
    """
    texts = program.texts
    words = (_CALLED, LAUNCH, _BY_MACRO, _MAKES_GRAPH)
    calls = any(word.search(one) for word in words for one in texts)
    if not calls or not any(map(MAIN.search, texts)):
        return Recording([])
    own = program.path.parent
    with scratch("example") as top:
        place = Path(top)
        described = "".join(_described(*one) for one in program.structures.items())
        for number, one in enumerate(texts):
            for name in _INCLUDED.findall(one):
                _lay_empty(place / "absent", name, own)
                if ".." in Path(name).parts and not (own / name).exists():
                    one = _without_include(one, name)
            watched = f"{_watched(one)}\n{described if LAUNCH.search(one) else ''}"
            (place / f"program{number}.cpp").write_text(watched, encoding="utf-8")
        for name in program.absent_headers:
            _lay_empty(place / "absent", name, own)
        for name, one in program.device_headers.items():
            _lay(place, name, _watched(one))
        if not _compiled(place, program):
            # It may need none of the others.
            alone = replace(program, texts=texts[:1])
            return recording_of(alone) if len(texts) > 1 else Recording([])
        rows, missed = _run(place, "project")
        if missed:
            made = made_data(program.path, program.top, missed, program.definitions, place / "data")
            for name, file in made.items():
                file.rename(place / "files" / name)
            if made:
                rows, missed = _run(place, "given")
        if missed:
            rows = [*map(_agreed, rows, _run(place, "again", again=True)[0])]
        made_up = (place / _MADE_UP_HEADER).read_text(encoding="utf-8")
        return Recording(_calls(rows), tuple(_MADE_UP_NUMBER.findall(made_up)))


def _run(place: Path, folder: str, *, again: bool = False) -> tuple[list[dict[str, Any]], set[str]]:
    """What the program writes down, and the names of the files that it read and that are not there.

    `again`: with another byte in what nobody set, and in each of these files.
    """
    # Programs look for their data beside the folder that they are built in, or further out.
    built = place / folder / "examples" / "program" / "build"
    built.mkdir(parents=True)
    given = place / "files"
    given.mkdir(exist_ok=True)
    words = ["env", f"ASCENDOPT_FILES={given}"]
    words += ["MALLOC_PERTURB_=90", "ASCENDOPT_BYTE=Z"] if again else []
    # How it ends does not matter: each call is written when it is made.
    run([*words, str(place / "program")], cwd=built, writable=[place], limits=_RUN_LIMITS)
    missed = ""
    with suppress(InputError, OSError):  # there is none, or it is no text
        missed = file_text(built / "absent_files", built, most_bytes=_RUN_LIMITS.file_bytes)
    return _read(built / "calls.jsonl"), {*missed.splitlines()}


def _agreed(value: Any, other: Any) -> Any:
    """What two runs agree on; None where they do not, or on what something is."""
    if value == other:
        return value
    if isinstance(value, dict) and isinstance(other, dict):
        both = {key: _agreed(one, other.get(key)) for key, one in value.items()}
        unsure = any(both[key] is None for key in _WHAT if key in both)
        return None if unsure else {k: one for k, one in both.items() if one is not None}
    if not (isinstance(value, list) and isinstance(other, list) and len(value) == len(other)):
        return None
    if not all(isinstance(one, dict) for one in (*value, *other)):
        return None
    return [_agreed(*pair) or {} for pair in zip(value, other, strict=True)]


def _watched(text: str) -> str:
    """The host's half of a program, with its calls and launches written down instead."""
    text = without_comments(text)  # they show launches, too
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
    """A function that writes the fields of a structure down; found by the row's type."""
    each = "".join(f' ascendopt::field(row, "{one}", value.{one});' for one in fields)
    return (
        f"namespace ascendopt {{ inline void ascendopt_fields(Row& row, const ::{name}& value)"
        f" {{{each} }} }}\n"
    )


def _without_include(text: str, name: str) -> str:
    return re.sub(rf'^[ \t]*#[ \t]*include[ \t]*["<]{re.escape(name)}[">]', "", text, flags=re.M)


def _lay_empty(folder: Path, name: str, own: Path) -> None:
    """An empty header for one of a toolkit; the system's and the program's own come before it."""
    with suppress(OSError):  # a name that no file can have
        if not (own / name).exists():
            _lay(folder, name, "")


def _lay(folder: Path, name: str, text: str) -> None:
    """A header where sources in `folder` find it, unless its name leads out."""
    if ".." in Path(name).parts or Path(name).is_absolute():
        return
    with suppress(OSError):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _compiled(place: Path, program: Program) -> bool:
    """Compile the program; whether that worked.

    What the compiler does not know of the toolkit is made up, and tried again: numbers, types
    without members, functions that answer success.
    """
    header, own = _header(program.texts), program.path.parent
    runtime = _runtime(header)
    library = [*_library(), runtime / _FACTS] if header == _TILING else []
    folders = [own, *program.include_folders]
    try:
        readable = [one for folder in folders for one in shown(folder)]
    except InputError:  # a folder of too many files
        return False
    known = place / _MADE_UP_HEADER
    text = "\n".join(program.texts)
    made = {*_USED.findall(text)} & {*_SOURCES} - {*_DECLARED.findall(text)}
    known.write_text("".join(prototype(name, _SOURCES[name]) for name in sorted(made)))
    for _ in range(_MOST_TRIES):
        done = run(
            compile_command(
                [
                    *(*_FLAGS, *(f"-D{one}" for one in program.definitions), "-fmax-errors=40"),
                    *("-include", str(runtime / header), "-include", str(known)),
                    *(f"-iquote{one}" for one in (place, own)),  # laid headers first
                    *(f"-I{one}" for one in program.include_folders),
                    *("-idirafter", str(place / "absent")),
                    *sorted(one.name for one in place.glob("program*.cpp")),
                    *map(str, library),
                    *("-o", "program"),
                ]
            ),
            cwd=place,
            readable=[runtime, *readable, *library],
            writable=[place],
            limits=_COMPILE_LIMITS,
        )
        if done.ok:
            return True
        said = done.stderr.decode(errors="replace")
        headers = {*_MISSING.findall(said)} - made
        for name in headers:
            _lay_empty(place / "absent", name, own)
        missed = {
            found["type"] or found["name"]: bool(found["type"]) for found in _UNKNOWN.finditer(said)
        }
        new = {name: is_type for name, is_type in missed.items() if name not in made}
        classes = {*_NO_CLASS.findall(said)} & program.prototypes.keys() - made
        spaces = {*_NO_NAMESPACE.findall(said)} - made
        found = new.keys() | headers | classes | spaces
        if not found and not _without_what_fails(place, said):
            return False
        made |= found
        text = "\n".join(one.read_text(encoding="utf-8") for one in place.glob("program*.cpp"))
        with known.open("a", encoding="utf-8") as file:
            file.writelines(program.prototypes[name] for name in sorted(classes))
            file.writelines(f"namespace {name} {{}}\n" for name in sorted(spaces))
            file.writelines(_made_up(name, is_type, text) for name, is_type in new.items())
    return False


def _without_what_fails(place: Path, said: str) -> bool:
    """Leave out what does not compile and is not `main`: constants and classes for the device.
    Whether there was anything; what `main` needs of it is missed then."""
    lines: dict[str, list[int]] = {}
    for name, line in _ERROR_AT.findall(said):
        lines.setdefault(name, []).append(int(line))
    changed = False
    for name, numbers in lines.items():
        text = (place / name).read_text(encoding="utf-8")
        left = without_definitions_at(text, numbers, MAIN)
        (place / name).write_text(left, encoding="utf-8")
        changed |= left != text
    return changed


def _header(texts: Sequence[str]) -> str:
    """The header of the stand-in that a program is compiled with."""
    if any(map(_MAKES_GRAPH.search, texts)):
        return _GRAPH
    ours = forwarding("host").keys()
    return _TILING if any(ours & layout.included(one) for one in texts) else _PROGRAM


def _runtime(header: str) -> Path:
    """The folder of the stand-in with a header that is compiled once for all programs."""
    headers = [*sorted(_STANDIN.glob("*.h")), KERNEL_HEADERS / "acl" / "acl_types.h"]
    texts = {one.name: one.read_bytes() for one in headers}
    chip = load_device(DEFAULT_DEVICE)
    facts = ", ".join(f'{{"{name}", "{said}"}}' for name, said in platform_facts(chip).items())

    def make(folder: Path) -> None:
        for name, text in texts.items():
            (folder / name).write_bytes(text)
        flags = (*_FLAGS, f"-I{HOST}")
        compile_trusted([*flags, "-x", "c++-header", header, "-o", f"{header}.gch"], folder)
        if header == _TILING:
            (folder / "facts.cpp").write_text(_SET_FACTS.replace("FACTS", facts))
            compile_trusted([*flags, "-c", "facts.cpp", "-o", _FACTS], folder)

    ours = (one.read_bytes() for one in sorted(HOST.rglob("*.h")))
    key = digest([compiler_version(), *_FLAGS, header, facts, *texts.values(), *ours])
    return BuildCache().get("example_runtime", key, make)


def _library() -> tuple[Path, ...]:
    """What stands for the library for tilings, compiled."""
    return Toolchain(load_device(DEFAULT_DEVICE).architecture).host_library


def _made_up(name: str, is_type: bool, text: str) -> str:
    if re.search(rf"\b{name}\s*\(", text):
        return f"inline int {name}(...) {{ return 0; }}\n"
    if is_type or re.search(rf"\b{name}\s*[*&\w]", text):
        return f"using {name} = void*;\n"
    return f"constexpr int {name} = {_MADE_UP} + __COUNTER__;\n"


def prototype(name: str, words: str) -> str:
    """What makes the class of an operator for a graph."""
    return f"namespace ge {{\nREG_OP({name}).{words}.OP_END_FACTORY_REG({name})\n}}\n"


def _known(value: Any) -> Any:
    """The value without numbers that stand for unknown constants."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_known(one) for one in value]
    return None if _is_made_up(value) else value


def _is_made_up(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value - _MADE_UP < _MOST_MADE_UP


def _is_whole(row: dict[str, Any]) -> bool:
    """Whether it is known which kernel is launched, and how often."""
    template = (int(one) for one in str(row.get("template")).split(",") if one.isdecimal())
    return not any(map(_is_made_up, (row.get("blocks"), *template)))


def _read(file: Path) -> list[dict[str, Any]]:
    """What the program wrote, as far as it is whole: the program may have been ended."""
    rows = []
    try:
        with file.open("rb") as lines:
            for line, _ in zip(lines, range(_MOST_ROWS), strict=False):
                rows.append(json.loads(line))
    except (OSError, ValueError, RecursionError):  # a row may be nested without end
        pass
    return [row for row in rows if isinstance(row, dict)]


def _calls(rows: Sequence[dict[str, Any] | None]) -> list[Call]:
    calls: list[Call] = []
    taken: set[int] = set()
    for said in rows:
        with suppress(ValidationError):
            row = _ROW.validate_python(_known(said))
            if isinstance(row, _Taken):
                taken.add(row.taken)
            elif said and _is_whole(said):
                calls.append(row)
    return [call.model_copy(update={"taken": frozenset(taken)}) for call in calls]
