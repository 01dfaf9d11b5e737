"""Finds operators by what their sources say, in whatever folders these lie.

A class derived from OpDef declares one; the kernel is the `__global__` function of its name.
Folders called op_host and op_kernel need not be there: the operator's folder is the innermost one
that holds both sources.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import nameless, walk
from ci.model.regular_file import file_bytes, file_text, plain_ends
from ci.source.cpp_text import global_functions, without_comments
from ci.source.launch_places import FILE, SUFFIXES
from ci.source.op_classes import compiled_text, expanded, op_classes

MARKS = ("__global__", "OpDef", "OP_ADD")
"""One of these is in each source that declares an operator or holds a kernel."""

REGISTERED = re.compile(r"\b(OP_ADD|(?:DEVICE_)?IMPL_OP\w*)\s*\(\s*(?:\w+\s*::\s*)*(\w+)")
"""What adds or implements an operator: the macro, and the type."""
_KERNEL_FILE = re.compile(r'"opFile\.value"\s*,\s*"(\w+)"')
MOST_FOLDERS = 20_000
"""Most folders below one that is looked through for operators; the largest repository of CANN
operators has 12,000."""
MOST_BYTES = 1 << 20
"""Most bytes of a source that is looked through for operators."""
MOST_OF_ALL = 500_000_000
"""Most characters of all sources of a checkout, which are held in memory together."""
_TEXTS = (*layout.SOURCES, *SUFFIXES)


def is_unit(path: str) -> bool:
    """Whether a path names a source that is compiled by itself."""
    return path.endswith(layout.UNITS)


def plain(name: str) -> str:
    """A name as kernels, folders and types of one operator have in common: 'scatter_maxv1'."""
    return name.replace("_", "").lower()


def entries_of(kernel: Mapping[str, str]) -> list[tuple[str, str]]:
    """Source and name of each kernel entry."""
    return [
        (path, name)
        for path, text in kernel.items()
        if is_unit(path) and "__global__" in text
        for name in (one.name for one in global_functions(text))
    ]


@dataclass(frozen=True)
class Placed:
    """A declared operator and where its sources lie; paths are from the place that was searched."""

    op_type: str
    definition: str
    kernel: str = ""
    """The source with its kernel, '' where there is none."""
    kernel_name: str = ""

    @property
    def folder(self) -> str:
        """The innermost folder that holds both sources, '' for the place that was searched."""
        above = zip(self.definition.split("/")[:-1], self.kernel.split("/")[:-1], strict=False)
        common = []
        for one, other in above:
            if one != other:
                break
            common.append(one)
        return "/".join(common)


def placed(texts: Mapping[str, str]) -> list[Placed]:
    """The operators that sources (texts by path) declare, by type, each with the nearest kernel
    that its definition names: by its type, else by the file that it sets for it."""
    entries = entries_of(texts)
    found: dict[str, Placed] = {}
    for path, text in texts.items():
        for one in _definitions(text) if is_unit(path) else ():
            op_type = one.op_type
            named = [e for e in entries if plain(e[1]) == plain(op_type)]
            named = named or [e for e in entries if PurePosixPath(e[0]).stem in one.files]
            near = [Placed(op_type, path, *entry) for entry in named]
            if not near and not one.for_core:
                continue
            best = max(near, key=_nearness, default=Placed(op_type, path))
            found[op_type] = max(found.get(op_type, best), best, key=_nearness)
    return list(found.values())


class _Defined(NamedTuple):
    """An op definition in a source."""

    op_type: str
    files: tuple[str, ...]
    """The files that it sets for the kernel."""
    for_core: bool
    """Whether it says anything of the AI core; else that is said elsewhere, or for the AI CPU."""


@lru_cache(maxsize=4096)
def _definitions(text: str) -> tuple[_Defined, ...]:
    """The op definitions in a source. Those for the AI CPU alone have no AscendC kernel and are
    left out."""
    if not any(mark in text for mark in MARKS[1:]):
        return ()
    return tuple(
        _Defined(name, tuple(_KERNEL_FILE.findall(body)), "AICore" in body)
        for name, body in op_classes(expanded(compiled_text(text)))
        if "AICPU()" not in body or "AICore()" in body
    )


def _nearness(one: Placed) -> tuple[bool, int]:
    return bool(one.kernel), len(one.folder)


def registered(texts: Iterable[str]) -> list[str]:
    """Types that host sources add or implement, each once."""
    found = (REGISTERED.findall(without_comments(text)) for text in texts)
    return [*dict.fromkeys(name for names in found for _, name in names)]


def types_in(units: Iterable[str]) -> list[str]:
    """Types of the op definitions in sources, each once."""
    return [*dict.fromkeys(name for text in units for name, *_ in _definitions(text))]


def looked_through(top: Path) -> tuple[list[Path], dict[str, str]]:
    """The folders below `top` that hold both op_host and op_kernel, and the texts of the sources
    outside of them that declare an operator or hold a kernel, by path from `top`.

    Links are not followed.
    """
    whole: list[Path] = []
    texts = {}
    for folder, names, files in _walk(top):
        if {layout.HOST, layout.KERNEL} <= {*names}:
            whole.append(folder)
            names.clear()
        for path in (folder / file for file in files if is_unit(file)):
            if text := _marked(path):
                texts[path.relative_to(top).as_posix()] = text
    return sorted(whole), texts


def operator_folders(top: Path) -> list[Path]:
    """Folders below `top` that hold both op_host and op_kernel, and those of operators that lie in
    folders of other names; links are not followed."""
    whole, texts = looked_through(top)
    return sorted({*whole, *(top / one.folder for one in placed(texts) if one.kernel)})


def sources_without_name(top: Path) -> list[Path]:
    """What cannot be read below `top` for its name is no UTF-8: sources, and folders with some."""
    inside = (folder for folder, names, _ in _walk(top))
    odd = (one for folder in inside for one in nameless(folder))
    return sorted(one for one in odd if is_unit(one.name) or any(_units(one)))


def too_large(top: Path) -> list[Path]:
    """The sources below `top` that declare an operator or hold a kernel and are too large to be
    looked through, without those in folders that hold both op_host and op_kernel."""
    found = []
    for folder, names, files in _walk(top):
        if {layout.HOST, layout.KERNEL} <= {*names}:
            names.clear()
        for path in (folder / file for file in files if is_unit(file)):
            with suppress(OSError, InputError):  # a link, a pipe, or gone
                if not path.is_symlink() and path.lstat().st_size > MOST_BYTES:
                    data = file_bytes(path)
                    found += [path] if any(mark.encode() in data for mark in MARKS) else []
    return found


def refuse_too_large(path: Path) -> None:
    """Raise InputError where no operator is looked for in a source, for its size."""
    if path.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{path} is larger than {MOST_BYTES >> 20} MiB, so no operator is looked for in it;"
            " move its tables to a header."
        )


def _units(top: Path) -> Iterator[str]:
    return (file for _, _, files in _walk(top) for file in files if is_unit(file))


def without_kernel(top: Path) -> list[Placed]:
    """The op definitions below `top`, outside of operators, that no kernel was found for."""
    whole, texts = looked_through(top)
    inside: dict[str, str] = {}
    for folder in whole:
        for place, _, files in _walk(folder / layout.KERNEL):
            inside |= {str(place / f): _marked(place / f) for f in files if is_unit(f)}
    named = {plain(name) for _, name in entries_of(inside)}
    return [p for p in placed(texts) if not p.kernel and plain(p.op_type) not in named]


def source_texts(top: Path) -> dict[str, str]:
    """Text of each header, source and workload below `top`, by path from there; links are not
    followed, and what is no text is left out. Raises InputError for more than `MOST_OF_ALL`."""
    found: dict[str, str] = {}
    left = MOST_OF_ALL
    for folder, _, files in _walk(top):
        for path in (folder / f for f in files if f.endswith(_TEXTS) or f == FILE):
            if path.is_symlink():
                continue
            try:
                text = file_text(path)
            except (OSError, InputError):  # a pipe, or gone
                continue
            left -= len(text)
            if left < 0:
                raise InputError(f"{top} holds more than {MOST_OF_ALL // 1_000_000} MB of sources.")
            found[path.relative_to(top).as_posix()] = text
    return found


def sources_apart(top: Path) -> dict[str, Path]:
    """The sources below `top` by path from there, without those of operators that hold op_host and
    op_kernel or that lie in a folder of their own further down."""
    whole, texts = looked_through(top)
    inner = {top / one.folder for one in placed(texts) if one.kernel and one.folder} | {*whole}
    found = {}
    for folder, names, files in _walk(top):
        names[:] = [name for name in names if folder / name not in inner]
        for file in files:
            if file.endswith(layout.SOURCES) and not (folder / file).is_symlink():
                found[(folder / file).relative_to(top).as_posix()] = folder / file
    return found


def placed_in(folder: Path) -> list[Placed]:
    """The operators whose folder this is, although it does not hold both op_host and op_kernel."""
    whole, texts = looked_through(folder)
    if folder in whole:
        return []
    return [one for one in placed(texts) if one.kernel and not one.folder]


def has_more_folders(top: Path, most: int) -> bool:
    """Whether there are more than `most` folders below `top`."""
    return next(islice(_walk(top), most, None), None) is not None


def _walk(top: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    for number, (folder, names, files) in enumerate(walk(top)):
        if number == MOST_FOLDERS:
            raise InputError(
                f"{top} is no repository of operators: it holds more than {MOST_FOLDERS:,}"
                " folders. Give the folder of a repository or of an operator."
            )
        names[:] = sorted(
            name for name in names if name not in layout.SKIPPED and not name.startswith(".")
        )
        yield folder, names, sorted(files)


def _marked(path: Path) -> str:
    """The text of a source that says something of operators, '' of any other."""
    try:
        found = path.lstat()
        if found.st_size > MOST_BYTES:
            return ""
        return _text(path, found.st_mtime_ns, found.st_size)
    except (OSError, InputError):  # a link, a pipe, or gone
        return ""


@lru_cache(maxsize=20_000)
def _text(path: Path, _age: int, _size: int) -> str:
    """One in UTF-16 is seen, so that it is said why its operator cannot be read."""
    data = b"" if path.is_symlink() else file_bytes(path)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = plain_ends(data.decode("utf-16" if wide else "utf-8", errors="replace"))
    return text if any(mark in text for mark in MARKS) else ""
