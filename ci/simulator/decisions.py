"""Reads what the comparisons of watched code saw, and gives each a place in the sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from ci.model.decision import Decision
from ci.simulator.source_lines import innermost_lines
from ci.simulator.stepped_text import STEPS_FILE

Frame: TypeAlias = tuple[str, int]
"""File and line of a code address; ('', 0) where that is not known."""

Pair: TypeAlias = tuple[float, float]

_ROWS = TypeAdapter(
    list[
        tuple[
            int,
            int,
            int,
            bool,
            bool,
            tuple[int, int],
            tuple[int, int, int],
            Pair,
            Pair,
            float | None,
        ]
    ]
)

_STANDARD = re.compile(r"include/c\+\+/")
"""Where the library's headers are: what std::min compares belongs to its caller."""

_OWN = ("op_kernel/", "op_host/")

_CASE_BITS = 48
"""No program has an address of so many bits."""


def frames(program: Path, offsets: Sequence[int]) -> list[Frame]:
    """The innermost frame of each code address."""
    return innermost_lines(program, [hex(offset) for offset in offsets])


def decisions_of(
    given: Any, unit: str, places: Callable[[Sequence[int]], list[Frame]]
) -> tuple[Decision, ...]:
    """The comparisons of the operator's own lines in the program `unit`.

    `given` comes from a process that ran the candidate; what is no list of rows is none.
    """
    try:
        rows = _ROWS.validate_python(given or [])
    except ValidationError:
        return ()
    if not rows:
        return ()
    addresses = sorted({address for row in rows for address in row[:2] if address})
    found = dict(zip(addresses, places(addresses), strict=True))
    seen: dict[tuple[str, str, int, int, int], Decision] = {}
    for site, caller, case, is_case, is_value, blocks, (
        less,
        equal,
        greater,
    ), below, above, same in rows:
        file, line = found.get(site, ("", 0))
        where, branch = _own(file), case
        step = file.endswith(STEPS_FILE)
        if not where and _STANDARD.search(file):
            file, line = found.get(caller, ("", 0))
            where, branch = _own(file), caller + (case << _CASE_BITS)
        if not where:
            continue
        one = Decision(
            where,
            line,
            unit,
            site,
            branch,
            frozenset(block for block in blocks if block),
            is_case,
            below if less else None,
            above if greater else None,
            same if equal else None,
            is_value and not step,
            step,
        )
        known = seen.get(one.key)
        seen[one.key] = one if known is None else known.also(one)
    return tuple(seen.values())


def _own(file: str) -> str:
    """The path of one of the operator's sources; '' for another's."""
    at = max(file.find(part) for part in _OWN)
    return file[at:] if at >= 0 else ""
