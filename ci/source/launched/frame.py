"""The frame of a workload for a kernel that a program launches.

It holds what its entry's text says, and what the program gives where it was run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from ci.model import layout
from ci.model.amount import amount
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.source.cpp_text import without_comments
from ci.source.launch_places import FILE, SUFFIXES
from ci.source.launched.entry import KernelEntry, entry_in
from ci.source.sides import repository_of, text_of

OPEN: Final = "TODO"
"""What a person has to write in its place."""

_MOST_VALUES: Final = 256
_MOST_LINE: Final = 400
_MOST_NAMES: Final = 5
_MOST_SHOWN: Final = 3
_MOST_CHARACTERS: Final = 160
_MOST_BYTES: Final = 1 << 20


Written: TypeAlias = bool | int | float | tuple[int | float | None, ...] | None
"""A number, a list of them, or what is neither."""


@dataclass(frozen=True)
class GivenTensor:
    """A row of numbers that a program has in a buffer."""

    size: int
    """Bytes."""
    data: bytes = b""
    """Them, where they are few and not all 0, as where a program reads a file that is not there."""
    dtype: str = ""
    """'' where nothing tells it."""

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers, where they are few and whole; of a type that nothing tells, words."""
        dtype = BY_NAME[self.dtype or ("uint32" if self.size % 4 == 0 else "uint8")]
        size, signed = dtype.bits // 8, dtype.name.startswith("int")
        if size == 0 or dtype.is_float or len(self.data) > _MOST_VALUES * size:
            return ()
        places = range(0, len(self.data), size)
        return tuple(
            int.from_bytes(self.data[at : at + size], "little", signed=signed) for at in places
        )


@dataclass
class GivenToKernel:
    """What a program gave to a kernel when it was run, by the names of the entry's parameters."""

    program: str
    blocks: int
    template: tuple[str, ...] = ()
    """Template arguments: numbers, and types as it writes them."""
    inputs: dict[str, GivenTensor] = field(default_factory=dict)
    outputs: dict[str, GivenTensor] = field(default_factory=dict)
    in_place: list[str] = field(default_factory=list)
    """Inputs that the program reads back."""
    zeroed: list[str] = field(default_factory=list)
    """Outputs that the program sets to 0 before."""
    workspace: dict[str, int] = field(default_factory=dict)
    """Bytes."""
    values: dict[str, bool | int | float] = field(default_factory=dict)
    structs: dict[str, Mapping[str, Written]] = field(default_factory=dict)
    """The fields of structures that are given by value."""
    words: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """In their place, the bytes of structures whose fields nothing tells, four in a number."""
    undefined: tuple[str, ...] = ()
    """Names that the program needs a number for and that nothing defines."""
    stopped: str = ""
    """Why the kernel could not be run, where its run would tell what its tensors hold."""


class GivenBy(Protocol):
    """Runs the programs of a repository that launch a kernel."""

    def __call__(
        self, top: Path, kernel: Path, text: str, entry: KernelEntry, /
    ) -> GivenToKernel | None:
        """What one gives to the kernel of a source; None where none launches it."""


def nothing_known(_top: Path, _kernel: Path, _text: str, _entry: KernelEntry, /) -> None:
    """Where no program is run."""


def frame(kernel: Path, name: str, folder: Path, given_by: GivenBy = nothing_known) -> str:
    """The text of a `workload.yaml` in `folder` for the kernel `name` of a source, or its only one.

    Places where the kernel is launched are shown, as far as the repository's texts name it there.
    Raises InputError when there is no such kernel, and what `given_by` raises.
    """
    kernel = kernel.resolve()
    if kernel.is_dir():
        raise InputError(f"{kernel} is a folder; give the source that defines the kernel.")
    if not kernel.is_file():
        raise InputError(f"There is no file {kernel}.")
    top = repository_of(kernel.parent)
    # As `load` asks for.
    if top is not None and not folder.resolve().is_relative_to(top.resolve()):
        raise InputError(f"{folder} is outside of the kernel's git checkout; give one in {top}.")
    if top is None and not kernel.is_relative_to(folder.resolve()):
        raise InputError(
            f"{kernel} is in no git checkout, so that the folder must hold it:"
            f" give {kernel.parent}."
        )
    text = text_of(kernel, top)
    entry = entry_in(kernel, text, name)
    launches = list(_launches(top or kernel.parent, entry.name))[:_MOST_SHOWN]
    given = given_by(top or kernel.parent, kernel, text, entry)
    return frame_text(kernel, entry, folder, given, launches)


def frame_text(
    kernel: Path,
    entry: KernelEntry,
    folder: Path,
    given: GivenToKernel | None,
    launches: Sequence[str] = (),
) -> str:
    """The text with what is known; `launches` are shown at its top."""
    return "\n".join(_lines(kernel, entry, folder, launches, given)) + "\n"


def write_frame(
    kernel: Path, name: str, folder: Path, given_by: GivenBy = nothing_known
) -> tuple[Path, bool]:
    """Write the frame; answers where, and whether anything is left to write in it.

    Raises InputError, also where a workload is there already.
    """
    file = folder / FILE
    if file.exists():
        raise InputError(f"{file} exists already; give another folder.")
    text = frame(kernel, name, folder, given_by)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{file} cannot be written: {problem.strerror}.") from None
    return file, OPEN in text.partition("\ngolden:")[2]


def _lines(
    kernel: Path,
    entry: KernelEntry,
    folder: Path,
    launches: Sequence[str],
    given: GivenToKernel | None,
) -> Iterator[str]:
    known = given or GivenToKernel("", 0)
    structures = known.structs.keys() | known.words.keys()
    numbers = [p for p in entry.parameters if not p.pointer and p.name not in structures]
    if known.undefined:
        names = ", ".join(known.undefined[:_MOST_NAMES])
        yield f"# No source and no build file defines {names}, which {known.program} needs:"
        yield "# write them under `definitions` of `build` in .ascendopt.yml, and run frame again."
    if given is None or not given.blocks:
        yield f"# Write what is marked {OPEN}. Numbers are expressions over the inputs, such as"
    else:
        yield f"# {given.program} was run, and gave these numbers. Those that follow from an input"
        yield "# are better written so, that other lengths can be tried: expressions such as"
    yield "# x.shape[0], x.size // 4096, min(rows, cores) or ceil_div(rows, blocks)."
    if known.stopped:
        yield f"# What its tensors hold is not known, as it was not run: {_line(known.stopped)}"
    yield from (f"# {one}" for one in launches)
    yield "golden: ''                # golden.py:function, of numpy, if you have one"
    yield "launch:"
    yield f"  kernel: {os.path.relpath(kernel, folder.resolve())}"
    yield f"  entry: {entry.name}"
    if known.template:
        yield f"  template: [{', '.join(known.template)}]"
    yield f"  blocks: {known.blocks or OPEN}"
    if known.outputs:
        yield "  outputs:"
        yield from (f"    {name}: {_spelled(one)}" for name, one in known.outputs.items())
    else:
        yield "  outputs: {}             # name: an input that it is like, or {shape, dtype}"
    if structures:
        yield "  structs:"
        for name, fields in known.structs.items():
            yield f"    {name}:"
            yield "      fields:"
            yield from (f"        {one}: {_number(value)}" for one, value in fields.items())
        for name, words in known.words.items():
            yield f"    {name}: {{words: [{', '.join(map(str, words))}]}}"
    else:
        yield "  structs: {}             # name: {type: NAME, fields: {...}}"
    if known.workspace:
        yield "  workspace:"
        yield from (f"    {name}: {size}" for name, size in known.workspace.items())
    else:
        yield "  workspace: {}           # name: bytes"
    yield "  values:" + ("" if numbers else " {}")
    for one in numbers:
        value = _number(known.values[one.name]) if one.name in known.values else OPEN
        yield f"    {one.name}: {value}".ljust(26) + f"# {one.type}"
    if known.zeroed:
        yield f"initial: {{{', '.join(f'{name}: 0' for name in known.zeroed)}}}"
    if known.in_place:
        yield f"in_place: [{', '.join(known.in_place)}]"
    yield "cases:"
    if known.inputs or not (known.outputs or known.workspace):
        yield "  - inputs:               # the pointers that the kernel reads; the others go above"
    else:
        yield "  - name: launched"
    for one in (one for one in entry.parameters if one.pointer):
        if one.name not in known.outputs.keys() | known.workspace.keys():
            tensor = known.inputs.get(one.name)
            yield f"      {one.name}: {_spelled(tensor)}"


def _line(text: str) -> str:
    """A text as one line of a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_MOST_LINE]


def _spelled(tensor: GivenTensor | None) -> str:
    if tensor is None:
        return f"{{shape: [{OPEN}], dtype: {OPEN}}}"
    words = f"uint{8 * tensor.size // len(tensor.values)}" if tensor.values else ""
    dtype = tensor.dtype or words
    if not dtype:
        return f"{{shape: [{OPEN}], dtype: {OPEN}}}  # {amount(tensor.size, 'byte')}"
    values = f", values: [{', '.join(map(str, tensor.values))}]" if tensor.values else ""
    count = tensor.size * 8 // BY_NAME[dtype].bits
    return f"{{shape: [{count}], dtype: {dtype}{values}}}"


def _number(value: Written) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_number, value))}]"
    return OPEN if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _launches(top: Path, name: str) -> Iterator[str]:
    """Place and text of each launch of a kernel below a folder."""
    launch = re.compile(
        rf"\b{name}\s*(?:<[^<>;]*>\s*)?<<<|\b[A-Z_]*(?:LAUNCH|EXEC)[A-Z_]*\s*\(\s*{name}\b"
    )
    for place, names, files in walk(top):
        names[:] = sorted(n for n in names if not n.startswith("."))
        for path in (
            place / file for file in sorted(files) if file.endswith((*layout.SOURCES, *SUFFIXES))
        ):
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
                continue
            try:
                text = text_of(path)
            except InputError:  # a binary file, or gone
                continue
            text = without_comments(text) if name in text else ""
            for found in launch.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                whole = " ".join(text[found.start() :].partition(";")[0].split())
                shown = whole[:_MOST_CHARACTERS] + ("…" if len(whole) > _MOST_CHARACTERS else "")
                yield f"{path.relative_to(top).as_posix()}:{line}: {shown}"
