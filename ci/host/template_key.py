"""Template tiling keys: which template arguments a kernel takes, and their C++ text.

`ASCENDC_TPL_ARGS_DECL` in a header that host and kernel share declares the arguments; the host
tiling chooses values for them (`TilingAnswer.template_arguments`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ci.model.dtypes import BY_NAME
from ci.source.cpp_text import closing, split_arguments, without_comments

_KERNEL_TYPES = {d.number: d.kernel_type for d in BY_NAME.values()}
_ONE = re.compile(r"ASCENDC_TPL_(DTYPE|DATATYPE|FORMAT|UINT|BOOL)_DECL\s*\(")


def declared_kinds(texts: Iterable[str], count: int = 0) -> tuple[str, ...]:
    """Kinds of the template arguments that the sources declare, in order; () when they do not.

    Of several declarations (a family's, another chip's) that with `count` arguments counts, else
    the first.
    DATATYPE stands for a type, BOOL for true or false, the others for a number.
    """
    found: list[tuple[str, ...]] = []
    for text in texts:
        clean = without_comments(text)
        at = clean.find("ASCENDC_TPL_ARGS_DECL")
        start = clean.find("(", at)
        end = closing(clean, start) if at >= 0 and start >= 0 else -1
        if end > 0:
            parts = split_arguments(clean[start + 1 : end])
            found.append(tuple(m.group(1) for part in parts if (m := _ONE.match(part))))
    return next((kinds for kinds in found if len(kinds) == count), found[0] if found else ())


def cpp_arguments(kinds: Sequence[str], values: Sequence[int]) -> tuple[str, ...]:
    """The C++ text of each template argument, from the values that the tiling chose.

    Raises ValueError when a value is no dtype or their number is not that of the declaration.
    """
    if len(kinds) != len(values):
        raise ValueError(f"the tiling chose {len(values)} of {len(kinds)} template arguments")
    found = []
    for kind, value in zip(kinds, values, strict=True):
        if kind == "DATATYPE":
            if value not in _KERNEL_TYPES:
                raise ValueError(f"the template argument {value} is no dtype")
            found.append(_KERNEL_TYPES[value])
        elif kind == "BOOL":
            found.append("true" if value else "false")
        else:
            found.append(str(int(value)))
    return tuple(found)
