"""Template tiling keys: which template arguments a kernel takes, and their C++ text.

`ASCENDC_TPL_ARGS_DECL` in a header that host and kernel share declares the arguments. The host
program says which of them its key stands for (`TilingAnswer.template_arguments`). Only where the
host side does not include the declaration is the text read for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ci.model.dtypes import BY_NAME
from ci.source.cpp_text import closing, split_arguments, without_comments

_KERNEL_TYPES = {d.number: d.kernel_type for d in BY_NAME.values()}
_ONE = re.compile(r"ASCENDC_TPL_(DTYPE|DATATYPE|FORMAT|UINT|BOOL)_DECL\s*\(")


def declared_kinds(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Kinds of the template arguments, in order, of each declaration that the sources hold."""
    found: list[tuple[str, ...]] = []
    for text in texts:
        clean = without_comments(text)
        at = clean.find("ASCENDC_TPL_ARGS_DECL")
        start = clean.find("(", at)
        end = closing(clean, start) if at >= 0 and start >= 0 else -1
        if end > 0:
            parts = split_arguments(clean[start + 1 : end])
            found.append(tuple(m.group(1) for part in parts if (m := _ONE.match(part))))
    return found


def cpp_arguments(chosen: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """The C++ text of each template argument, from its kind and the value that the tiling chose.

    DATATYPE stands for a type, BOOL for true or false, the others for a number. Raises ValueError
    when a value is no dtype.
    """
    found = []
    for kind, value in chosen:
        if kind == "DATATYPE":
            if value not in _KERNEL_TYPES:
                raise ValueError(f"the template argument {value} is no dtype")
            found.append(_KERNEL_TYPES[value])
        elif kind == "BOOL":
            found.append("true" if value else "false")
        else:
            found.append(str(int(value)))
    return tuple(found)
