"""Tiling structs as the host program describes them, and their C++ text for the kernel side."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pydantic import Field

from ci.model.frozen import Frozen

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_UNSIGNED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
_KNOWN_TYPES = {
    "bool", "char", "float", "double", "int", "unsigned", "size_t", "long",
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}  # fmt: skip
_MAX_ELEMENTS = 1 << 20


class TilingField(Frozen):
    """One field: a number, an array (count > 0) or a nested struct."""

    name: str
    ctype: str
    bytes: int = Field(description="Of one element, or of the nested struct.")
    count: int = Field(default=0, description="Elements of an array; 0 when it is none.")
    offset: int
    nested: TilingStruct | None = None


class TilingStruct(Frozen):
    """A tiling data class: its C++ name, size, and fields with their offsets."""

    name: str
    bytes: int
    fields: tuple[TilingField, ...]


WORD = 4
"""Bytes of the words that patterns are made of."""


def pattern(struct: TilingStruct | None, words: str) -> str:
    """How tiling data cut the work: which fields are 0, 1 and more.

    Of an array only what occurs in it: cores and tensors are many. `words` has a letter for each
    word of 32 bits; where the struct is not known that is an array, too.
    """
    if struct is None:
        return "".join(sorted({*words}))
    found = []
    for field in struct.fields:
        inside = words[field.offset // WORD :]
        if field.nested is not None:
            found.append(pattern(field.nested, inside))
            continue
        size = max(1, field.bytes // WORD)
        every = [inside[i : i + size] for i in range(0, max(1, field.count) * size, size)]
        found.append("".join(sorted({_kind(one) for one in every})))
    return " ".join(found)


def _kind(number: str) -> str:
    """Tells 0, 1 and more of a number in little-endian words; a fraction counts as more."""
    return number[:1] if {*number[1:]} <= {"0"} else "n"


def declarations(structs: Iterable[TilingStruct], library: Collection[str] = ()) -> str:
    """C++ definitions of `structs` and what they nest, each once, inner ones first.

    Those named in `library` are left out: the kernel-side headers define them themselves.

    The layout is that of the host: fields at natural alignment, structs aligned to 8 bytes.
    Raises ValueError when a name or type is not one that may be in C++ source: the text comes
    from a program that nobody trusts.
    """
    written: dict[str, str] = dict.fromkeys(library, "")
    for struct in structs:
        _write(struct, written)
    return "\n".join(text for text in written.values() if text)


def _write(struct: TilingStruct, written: dict[str, str]) -> None:
    if struct.name in written:
        return
    if not _IDENTIFIER.fullmatch(struct.name):
        raise ValueError(f"'{struct.name[:40]}' is no name for a tiling struct")
    for field in struct.fields:
        if field.nested is not None:
            _write(field.nested, written)
    lines = [f"struct alignas(8) {struct.name} {{"]
    lines += [f"    {_member(field)};" for field in struct.fields]
    lines += ["};", f"static_assert(sizeof({struct.name}) == {struct.bytes or 8});"]
    written[struct.name] = "\n".join(lines)


def _member(field: TilingField) -> str:
    if not _IDENTIFIER.fullmatch(field.name) or not 0 <= field.count <= _MAX_ELEMENTS:
        raise ValueError(f"'{field.name[:40]}' is no name for a tiling field")
    if field.nested is not None:
        return f"alignas(8) {field.nested.name} {field.name}"
    ctype = field.ctype.removeprefix("std::")
    if ctype not in _KNOWN_TYPES:
        # A type of the operator's own (an enum, an alias): the bytes are what matters.
        if field.bytes not in _UNSIGNED:
            raise ValueError(f"the tiling field {field.name} has the unknown type {ctype[:40]}")
        ctype = _UNSIGNED[field.bytes]
    return f"{ctype} {field.name}" + (f"[{field.count}]" if field.count else "")
