"""What a program gives to the kernel that it launches: of a workload's frame, all that it tells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from ci.derive.example_run import LAUNCH, Argument, Call, GivenBuffer, calls_of
from ci.derive.program import MAIN, MOST_BYTES, Program, program_of
from ci.model import layout
from ci.model.dtypes import BY_NAME, DType
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.model.regular_file import file_text
from ci.source.cpp_source import parse
from ci.source.cpp_text import closing, global_functions, split_arguments, without_comments
from ci.source.launch_places import SUFFIXES
from ci.source.launched.entry import REAL, WHOLE, KernelEntry
from ci.source.launched.frame import GivenTensor, GivenToKernel
from ci.source.launched.structures import structure

_SOURCES: Final = (*layout.SOURCES, *SUFFIXES)
_MOST_RUN: Final = 3
"""Programs that are run until one launches the kernel."""
_MOST_VALUES: Final = 256
_WORD: Final = 4
"""Bytes of the numbers as which a buffer is written that nothing tells the type of."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_CAST = re.compile(
    r"(?:\(\s*__gm__\s+([\w:]+)\s*\*\s*\)|reinterpret_cast\s*<\s*__gm__\s+([\w:]+)\s*\*\s*>)"
    r"\s*\(?\s*(\w+)"
)
_TEMPLATE = re.compile(r"\btemplate\s*<([^<>]*)>\s*(?:class|struct)\s+(\w+)")
_BY_CODE: Final = {one.kernel_type: one for one in reversed([*BY_NAME.values()]) if one.bits >= 8}
"""Dtypes by their names in C++: the plain one before those that only share its type."""


def given_to_kernel(top: Path, kernel: Path, text: str, entry: KernelEntry) -> GivenToKernel | None:
    """What a program of the repository at `top` gives to the kernel, whose source's text is given.

    None where no program launches it that runs here. Raises EnvironmentProblem without a compiler.
    """
    texts = dict(_texts(top))
    structures = _structures(texts, entry)
    texts = {path: one for path, one in texts.items() if path == kernel or not _is_of(entry, one)}
    nearest = sorted(texts, key=lambda path: len(_shared(path, kernel)), reverse=True)
    near = {path: texts[path] for path in nearest}
    for program in islice(_programs(top, near, entry.name), _MOST_RUN):
        for call in calls_of(replace(program, structures=structures)):
            if call.name == entry.name and len(call.arguments) == len(entry.parameters):
                place = program.path.relative_to(top).as_posix()
                whole = "\n".join((text, *program.device_headers.values()))
                return _given(call, entry, without_comments(whole), place)
    return None


def _is_of(entry: KernelEntry, text: str) -> bool:
    """Whether a source defines another kernel of that name, which it launches itself."""
    named = "__global__" in text and entry.name in text
    return named and any(one.name == entry.name for one in global_functions(text))


def _shared(path: Path, kernel: Path) -> str:
    """The folders around a source that are around the kernel, too."""
    return os.path.commonpath((path, kernel))


def _structures(texts: Mapping[Path, str], entry: KernelEntry) -> dict[str, tuple[str, ...]]:
    """Fields of the structures that the kernel is given by value, as far as a source has them."""
    wanted = [
        one.type
        for one in entry.parameters
        if not (one.pointer or WHOLE.fullmatch(one.type) or REAL.fullmatch(one.type))
    ]
    found: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(wanted):
        if known := structure(name, texts.values()):
            found[known.name] = known.fields
    return found


def _programs(top: Path, texts: Mapping[Path, str], name: str) -> Iterator[Program]:
    """Programs that launch a kernel, themselves or by a function of another source."""
    launching = {
        path: text
        for path, text in texts.items()
        if name in text  # the patterns take a hundred times as long
        and (
            any(found[1] == name for found in LAUNCH.finditer(text))
            or re.search(rf"\bACLRT_LAUNCH_KERNEL\s*\(\s*{name}\s*\)", text)
        )
    }
    for path, text in launching.items():
        if MAIN.search(text):
            yield program_of(top, path, text)
    for text in launching.values():
        if MAIN.search(text):
            continue
        source = parse(text)
        callers = [one.plain for one in source.functions if name in source.of(one.body)]
        called = re.compile(rf"\b(?:{'|'.join(callers)})\s*\(") if callers else None
        for path, other in texts.items():
            if called and other is not text and MAIN.search(other) and called.search(other):
                program = program_of(top, path, other)
                linked = () if text in program.texts else (_INCLUDE.sub("", text),)
                yield replace(program, texts=[*program.texts, *linked])


def _texts(top: Path) -> Iterator[tuple[Path, str]]:
    for folder, below, names in walk(top):
        below[:] = sorted(one for one in below if not one.startswith("."))
        for name in sorted(names):
            if name.endswith(_SOURCES) and not name.startswith("."):
                try:
                    path = folder / name
                    yield path, file_text(path, top.resolve(), most_bytes=MOST_BYTES)
                except (InputError, OSError):
                    continue


def _given(call: Call, entry: KernelEntry, text: str, program: str) -> GivenToKernel:
    template = tuple(part.strip() for part in split_arguments(call.template) if part.strip())
    given = GivenToKernel(program, call.blocks or 1, template)
    for parameter, argument in zip(entry.parameters, call.arguments, strict=True):
        if not parameter.pointer:
            if argument.number is not None:
                given.values[parameter.name] = argument.number
            elif argument.fields and None not in argument.fields.values():
                given.structs[parameter.name] = argument.fields
            elif argument.words:
                given.words[parameter.name] = argument.words
            elif argument.fields:
                given.structs[parameter.name] = argument.fields
            continue
        buffer = argument.buffer
        if buffer is None or not (buffer.filled or buffer.number in call.taken):
            given.workspace[parameter.name] = _room(argument)
            continue
        dtype = _dtype(text, entry, parameter.name, parameter.type)
        tensor = _tensor(buffer, dtype)
        if not buffer.filled:
            given.outputs[parameter.name] = tensor
            continue
        given.inputs[parameter.name] = tensor
        if buffer.number in call.taken:
            given.in_place.append(parameter.name)
    return given


def _room(argument: Argument) -> int:
    return argument.buffer.bytes if argument.buffer is not None else 0


def _tensor(buffer: GivenBuffer, dtype: DType | None) -> GivenTensor:
    """A buffer as a row of numbers: with its values where they are few whole numbers, or of a type
    that nothing tells, and not all 0, as where a program reads a file that is not there."""
    size = dtype.bits // 8 if dtype is not None else _WORD if buffer.bytes % _WORD == 0 else 1
    count = buffer.bytes // size
    values: tuple[int, ...] = ()
    whole = dtype is None or not dtype.is_float
    if whole and any(buffer.values) and count <= _MOST_VALUES:
        signed = dtype is not None and dtype.name.startswith("int")
        data = bytes(buffer.values)
        values = tuple(
            int.from_bytes(data[at : at + size], "little", signed=signed)
            for at in range(0, count * size, size)
        )
    name = dtype.name if dtype is not None else "" if not values else f"uint{8 * size}"
    return GivenTensor(name, count, buffer.bytes, values)


def _dtype(text: str, entry: KernelEntry, name: str, kind: str) -> DType | None:
    """The type of the numbers behind a pointer, as far as the kernel's text tells it."""
    plain = kind.replace("*", "").strip()
    if plain in _BY_CODE and plain != "uint8_t":
        return _BY_CODE[plain]
    names = {name, *_passed_as(text, entry, name)}
    own = next((one for one in parse(text).functions if one.plain == entry.name), None)
    body = text[own.body.start_byte : own.body.end_byte] if own is not None else ""
    for found in _CAST.finditer(text):
        if found[3] in names:
            word = found[1] or found[2]
            known = _BY_CODE.get(word) or _BY_CODE.get(
                _of_template(text, word, found.start(), body)
            )
            if known is not None:
                return known
    return None


def _passed_as(text: str, entry: KernelEntry, name: str) -> Iterator[str]:
    """What functions call a parameter that the entry passes on to them as it is."""
    functions = parse(text).functions
    own = next((one for one in functions if one.plain == entry.name), None)
    if own is None:
        return
    body = text[own.body.start_byte : own.body.end_byte]
    for call in re.finditer(r"\b(\w+)\s*(?=\()", body):
        arguments = split_arguments(body[call.end() + 1 : closing(body, call.end())])
        if name not in arguments:
            continue
        place = arguments.index(name)
        for one in functions:
            if one.plain == call[1] and one is not own:
                head = text[one.node.start_byte : one.body.start_byte]
                listed = split_arguments(head[head.find("(") + 1 : head.rfind(")")])
                if place < len(listed) and (word := re.search(r"(\w+)\s*$", listed[place])):
                    yield word[1]


def _of_template(text: str, word: str, at: int, body: str) -> str:
    """What a template's parameter stands for in the entry's body, or wherever there is but one."""
    around = [one for one in _TEMPLATE.finditer(text) if one.start() < at]
    if not around:
        return ""
    parameters = [part.split()[-1] for part in split_arguments(around[-1][1]) if part.split()]
    if word not in parameters:
        return ""
    place = parameters.index(word)
    used = re.compile(rf"\b{around[-1][2]}\s*<([^<>;]*)>\s*\w+\s*[;({{]")
    for where in (body, text):
        lists = [split_arguments(found[1]) for found in used.finditer(where)]
        known = {one[place].strip() for one in lists if place < len(one)}
        if len(known) == 1:
            return known.pop()
    return ""
