"""What a 64-bit little-endian ELF file holds, without starting a program for it."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ci.model.errors import EnvironmentProblem

_DYNSYM = 11  # section type SHT_DYNSYM
_NOTE = 7  # section type SHT_NOTE, such as the digest over the whole file
_NOBITS = 8  # section type SHT_NOBITS
_LOADED = 2  # section flag SHF_ALLOC
_UNDEFINED = 0  # section index SHN_UNDEF
_LOCAL = 0  # binding STB_LOCAL

T = TypeVar("T")


_Section = tuple[int, ...]


def dynamic_symbols(file: Path, *, defined: bool) -> set[str]:
    """Names that the file offers to the loader (`defined`), or that it asks of it.

    Raises EnvironmentProblem when the file is no such ELF file.
    """
    return _read(file, lambda data, sections: _names(data, sections, defined))


def section_bytes(file: Path, kind: int) -> int:
    """Bytes of the sections of a kind (SHT_…). Raises EnvironmentProblem as `dynamic_symbols`."""
    return _read(file, lambda _, sections: sum(s[5] for s in sections if s[1] == kind))


def writable_bytes(file: Path) -> int:
    """Bytes of variables that outlive a call. Raises EnvironmentProblem as `dynamic_symbols`."""
    return _read(file, _writable)


_WRITABLE = 1  # section flag SHF_WRITE
_LOADERS = (".init_array", ".fini_array", ".dynamic", ".got", ".got.plt", ".data.rel.ro")
"""Written by the loader alone."""


def _writable(data: bytes, sections: Sequence[_Section]) -> int:
    (names_at,) = struct.unpack_from("<H", data, 62)
    texts = sections[names_at][4]
    found = 0
    for name, _, flags, _, _, length, *_ in sections:
        at = texts + name
        if flags & _WRITABLE and data[at : data.index(b"\0", at)].decode() not in _LOADERS:
            found += length
    return found


def code_digest(file: Path) -> str:
    """32 hex digits over all that is loaded to run: two files of one digest do the same.

    Names of source files and line numbers are not among it. Raises EnvironmentProblem as
    `dynamic_symbols`.
    """
    return _read(file, _loaded)


def _loaded(data: bytes, sections: Sequence[_Section]) -> str:
    state = hashlib.sha256()
    for _, kind, flags, address, offset, length, *_ in sections:
        if flags & _LOADED and kind != _NOTE:
            state.update(struct.pack("<QQ", address, length))
            state.update(b"" if kind == _NOBITS else data[offset : offset + length])
    return state.hexdigest()[:32]


def _read(file: Path, take: Callable[[bytes, Sequence[_Section]], T]) -> T:
    data = file.read_bytes()
    try:
        return take(data, _sections(data))
    except (struct.error, IndexError, ValueError, OverflowError) as problem:
        raise EnvironmentProblem(
            f"{file.name} cannot be read as a shared library for this machine: {problem}"
        ) from problem


def _sections(data: bytes) -> list[_Section]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no 64-bit little-endian ELF file")
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return [
        struct.unpack_from("<IIQQQQIIQQ", data, sections_at + number * size)
        for number in range(count)
    ]


def _names(data: bytes, sections: Sequence[_Section], defined: bool) -> set[str]:
    names: set[str] = set()
    for _, kind, _, _, offset, length, link, _, _, entry in sections:
        if kind != _DYNSYM:
            continue
        _, _, _, _, text_at, text_length, *_ = sections[link]
        texts = data[text_at : text_at + text_length]
        for at in range(offset + entry, offset + length, entry):
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            if info >> 4 != _LOCAL and (section != _UNDEFINED) is defined:
                end = texts.index(b"\0", name)
                names.add(texts[name:end].decode("utf-8", errors="replace"))
    return names
