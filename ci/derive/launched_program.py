"""What a program gives to the kernel that it launches: of a workload's frame, all that it tells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from ci.backend.sim import SimulatorBackend
from ci.derive.example_run import LAUNCH, Argument, Call, GivenBuffer, recording_of
from ci.derive.program import MAIN, MOST_BYTES, Program, program_of
from ci.host.door.base import FrontDoor
from ci.model import layout
from ci.model.dtypes import BY_NAME, DType
from ci.model.errors import InputError, TrialFailure
from ci.model.folder_walk import walk
from ci.model.regular_file import file_text
from ci.model.settings import DEFAULT_DEVICE
from ci.model.yaml_model import YamlFile
from ci.source.cpp_source import parse
from ci.source.cpp_text import global_functions, split_arguments
from ci.source.inputs import draw_inputs
from ci.source.launch_places import FILE, SUFFIXES
from ci.source.launched.entry import REAL, WHOLE, KernelEntry, Parameter
from ci.source.launched.frame import GivenTensor, GivenToKernel, frame_text
from ci.source.launched.load import launched_operator
from ci.source.launched.structures import structure
from ci.source.workload_file import workload_of
from ci.source.workload_model import GivenWorkload

_SOURCES: Final = (*layout.SOURCES, *SUFFIXES)
_MOST_RUN: Final = 3
"""Programs that are run until one launches the kernel."""
_RUN_SECONDS: Final = 20.0
"""How long a kernel may run that is run to see what its tensors are."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_BY_CODE: Final = {one.kernel_type: one for one in reversed([*BY_NAME.values()]) if one.bits >= 8}
"""Dtypes by their names in C++: the plain one before those that only share its type."""


def given_to_kernel(
    top: Path, kernel: Path, text: str, entry: KernelEntry, door: FrontDoor | None = None
) -> GivenToKernel | None:
    """What a program of the repository at `top` gives to the kernel, whose source's text is given.

    `door`: the headers with which the kernel is compiled, to see what its tensors hold. None where
    no program launches it that runs here, and nothing is known of why. Raises EnvironmentProblem
    without a compiler.
    """
    texts = dict(_texts(top))
    structures = _structures(texts, entry)
    texts = {path: one for path, one in texts.items() if path == kernel or not _is_of(entry, one)}
    nearest = sorted(texts, key=lambda path: len(_shared(path, kernel)), reverse=True)
    near = {path: texts[path] for path in nearest}
    open_names: dict[str, tuple[str, ...]] = {}
    for program in islice(_programs(top, near, entry.name), _MOST_RUN):
        place = program.path.relative_to(top).as_posix()
        calls, undefined = recording_of(replace(program, structures=structures))
        for call in calls:
            if call.name == entry.name and len(call.arguments) == len(entry.parameters):
                given = replace(_given(call, entry, place), undefined=undefined)
                return _with_dtypes(given, kernel, entry, top, door)
        if undefined:
            open_names[place] = undefined
    return next((GivenToKernel(p, 0, undefined=names) for p, names in open_names.items()), None)


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


def _given(call: Call, entry: KernelEntry, program: str) -> GivenToKernel:
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
        dtype = _dtype(parameter, dict(zip(entry.template, template, strict=False)))
        tensor = _tensor(buffer, dtype)
        if not buffer.filled:
            given.outputs[parameter.name] = tensor
            if buffer.zeroed:
                given.zeroed.append(parameter.name)
            continue
        given.inputs[parameter.name] = tensor
        if buffer.number in call.taken:
            given.in_place.append(parameter.name)
    return given


def _room(argument: Argument) -> int:
    return argument.buffer.bytes if argument.buffer is not None else 0


def _tensor(buffer: GivenBuffer, dtype: DType | None) -> GivenTensor:
    data = bytes(buffer.values)
    name = dtype.name if dtype is not None else ""
    return GivenTensor(buffer.bytes, data if any(data) else b"", name)


def _dtype(parameter: Parameter, template: Mapping[str, str]) -> DType | None:
    """The type of the numbers behind a pointer, where the entry's head and its template's
    arguments, by the names of its parameters, tell it."""
    plain = parameter.type.replace("*", "").strip()
    plain = template.get(plain, plain)
    return _BY_CODE.get(plain) if plain != "uint8_t" else None


def _with_dtypes(
    given: GivenToKernel, kernel: Path, entry: KernelEntry, top: Path, door: FrontDoor | None
) -> GivenToKernel:
    """The same with the dtypes that nothing tells as the kernel takes them, once run on bytes."""
    tensors = given.inputs | given.outputs
    if all(one.dtype for one in tensors.values()):
        return given
    on_bytes = _retyped(given, dict.fromkeys(tensors, "uint8"))
    try:
        found = _taken(on_bytes, kernel, entry, top, door)
    except InputError as problem:  # it does not fit
        return _open(given, str(problem))
    except TrialFailure as stopped:  # it does not compile
        return _open(given, stopped.refusal.sentence)
    # What it only hands on, or reads by pointers: its bytes, or the words that are there.
    bare = (name for name, one in tensors.items() if not one.data)
    return _retyped(given, dict.fromkeys(bare, "uint8") | found)


def _open(given: GivenToKernel, stopped: str) -> GivenToKernel:
    """The same without the bytes of what is of no known dtype."""

    def bare(tensors: Mapping[str, GivenTensor]) -> dict[str, GivenTensor]:
        return {n: one if one.dtype else replace(one, data=b"") for n, one in tensors.items()}

    inputs, outputs = bare(given.inputs), bare(given.outputs)
    return replace(given, inputs=inputs, outputs=outputs, stopped=stopped)


def _retyped(given: GivenToKernel, dtypes: Mapping[str, str]) -> GivenToKernel:
    """The same with these dtypes where there is none."""

    def typed(tensors: Mapping[str, GivenTensor]) -> dict[str, GivenTensor]:
        return {
            name: replace(one, dtype=one.dtype or dtypes.get(name, ""))
            for name, one in tensors.items()
        }

    return replace(given, inputs=typed(given.inputs), outputs=typed(given.outputs))


def _taken(
    given: GivenToKernel, kernel: Path, entry: KernelEntry, top: Path, door: FrontDoor | None
) -> dict[str, str]:
    """The dtypes as which a kernel takes its tensors, by their names, as far as it comes.

    Raises InputError and TrialFailure.
    """
    text = frame_text(kernel, entry, kernel.parent, given)
    operator = launched_operator(kernel.parent, top, text)
    file = YamlFile(text, FILE)
    workload = workload_of(operator, file, file.read(GivenWorkload), kernel.parent)
    case = workload.cases[0]
    backend = SimulatorBackend(DEFAULT_DEVICE, door=door, launch_seconds=_RUN_SECONDS)
    files = {operator.launch.source: text} if operator.launch is not None else {}
    build = backend.built(operator, files, workload, "buffers")
    outputs = [given.outputs[spec.name] for spec in operator.outputs]
    rooms = [np.zeros(o.size, np.uint8).view(BY_NAME[o.dtype].numpy) for o in outputs]
    return build.taken_dtypes(case, draw_inputs(case, 1), [*rooms])
