"""The kernel side's tiling structs of the high-level API, from the definitions of a header tree.

A toolkit's build makes `kernel_tiling/kernel_tiling.h` from the `*_tilingdata.h` files; a checkout
holds only those, so the same is done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ci.host.door.header_tree import HeaderTree
from ci.source.cpp_text import without_comments

HEADER = "kernel_tiling/kernel_tiling.h"

_STRUCT = re.compile(r"BEGIN_TILING_DATA_DEF\(\s*(\w+)\s*\)(.*?)END_TILING_DATA_DEF", re.DOTALL)
_FIELD = re.compile(r"TILING_DATA_FIELD_DEF(|_ARR|_STRUCT)\(\s*([^)]*)\)")


def kernel_tiling(tree: HeaderTree) -> tuple[str, frozenset[str]]:
    """Text of the header, '' when the tree brings its own, and the names of its structs."""
    own = next(iter(tree.headers("kernel_tiling.h")), None)
    if own is not None:
        names = re.findall(r"^[ \t]*struct\s+(\w+)", own.read_text(errors="replace"), re.MULTILINE)
        return "", frozenset(names)
    return tiling_header(p.read_text(errors="replace") for p in tree.headers("*_tilingdata.h"))


def tiling_header(definitions: Iterable[str]) -> tuple[str, frozenset[str]]:
    """C++ structs for the tiling data that `definitions` declare by macros, and their names.

    They are aligned to 8 bytes, as the host lays nested structs.
    """
    lines = ["#pragma once", "#include <cstdint>", "namespace AscendC::tiling {"]
    names: list[str] = []
    for text in definitions:
        for name, body in _STRUCT.findall(without_comments(text)):
            if name not in names:
                names.append(name)
                lines += [f"struct alignas(8) {name} {{", *map(_member, _FIELD.findall(body)), "};"]
    lines += ["}", *(f"using AscendC::tiling::{name};" for name in names)]
    return "\n".join(lines) + "\n", frozenset(names)


def _member(found: tuple[str, str]) -> str:
    kind, text = found
    words = [word.strip() for word in text.split(",")]
    if kind == "_ARR":
        ctype, count, name = words[0], words[1], words[2]
        return f"    {ctype} {name}[{count}] = {{}};"
    return f"    {words[0]} {words[1]} = {{}};"
