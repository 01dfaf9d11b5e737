"""The frame of a workload for a kernel that a program launches: what its entry's text says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.source.cpp_text import without_comments
from ci.source.launch_places import FILE, SUFFIXES
from ci.source.launched.entry import KernelEntry, entry_in
from ci.source.sides import repository_of, text_of

OPEN: Final = "TODO"
"""What a person has to write in its place."""

_MOST_SHOWN: Final = 3
_MOST_CHARACTERS: Final = 160
_MOST_BYTES: Final = 1 << 20


def frame(kernel: Path, name: str, folder: Path) -> str:
    """The text of a `workload.yaml` in `folder` for the kernel `name` of a source, or its only one.

    Places where the kernel is launched are shown, as far as the repository's texts name it there.
    Raises InputError when there is no such kernel.
    """
    kernel = kernel.resolve()
    if not kernel.is_file():
        raise InputError(f"There is no file {kernel}.")
    top = repository_of(kernel.parent)
    entry = entry_in(kernel, text_of(kernel, top), name)
    launches = list(_launches(top or kernel.parent, entry.name))[:_MOST_SHOWN]
    return "\n".join(_lines(kernel, entry, folder, launches)) + "\n"


def write_frame(kernel: Path, name: str, folder: Path) -> Path:
    """Write the frame; answers where. Raises InputError, also where a workload is there already."""
    file = folder / FILE
    if file.exists():
        raise InputError(f"{file} exists already; give another folder.")
    text = frame(kernel, name, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{file} cannot be written: {problem.strerror}.") from None
    return file


def _lines(kernel: Path, entry: KernelEntry, folder: Path, launches: list[str]) -> Iterator[str]:
    pointers = [one for one in entry.parameters if one.pointer]
    numbers = [one for one in entry.parameters if not one.pointer]
    yield f"# Write what is marked {OPEN}. Numbers are expressions over the inputs, such as"
    yield "# x.shape[0], x.size // 4096, min(rows, cores) or ceil_div(rows, blocks)."
    yield from (f"# {one}" for one in launches)
    yield "golden: ''                # golden.py:function, of numpy, if you have one"
    yield "launch:"
    yield f"  kernel: {os.path.relpath(kernel, folder.resolve())}"
    yield f"  entry: {entry.name}"
    yield f"  blocks: {OPEN}"
    yield "  outputs: {}             # name: an input that it is like, or {shape: ..., dtype: ...}"
    yield "  structs: {}             # name: {type: NAME, fields: {...}}"
    yield "  workspace: {}           # name: bytes"
    yield "  values:" + ("" if numbers else " {}")
    for one in numbers:
        yield f"    {one.name}: {OPEN}".ljust(26) + f"# {one.type}"
    yield "cases:"
    yield "  - inputs:               # the pointers that the kernel reads; the others go above"
    for one in pointers:
        yield f"      {one.name}: {{shape: [{OPEN}], dtype: {OPEN}}}"


def _launches(top: Path, name: str) -> Iterator[str]:
    """Place and text of each launch of a kernel below a folder."""
    launch = re.compile(
        rf"\b{name}\s*(?:<[^<>;]*>\s*)?<<<|\b[A-Z_]*(?:LAUNCH|EXEC)[A-Z_]*\s*\(\s*{name}\b"
    )
    for place, names, files in os.walk(top):
        names[:] = sorted(n for n in names if not n.startswith("."))
        for path in (
            Path(place) / file
            for file in sorted(files)
            if file.endswith((*layout.SOURCES, *SUFFIXES))
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
