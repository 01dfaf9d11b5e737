"""Scale a constant of the kernel that sizes its tiles or chunks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, constants

_SIZES = re.compile(
    r"tile|chunk|slice|batch|rows?|per_?(?:loop|time|iter|copy)|once|unroll"
    r"|(?:max|copy|proc|process|calc|data|block|step|ub)_?\w*(?:len|length|num|count|elem|size)",
    re.I,
)
_NOT_SIZES = re.compile(
    r"buf(?:fer)?_?num|align|byte|block_?size|dtype|type|mask|repeat|shift|index|dim|key|core|"
    r"stride|per_?block|mode|flag|event|float|half|int",
    re.I,
)
_VALUE = re.compile(r"^(\d+)([uUlL]*)$")
LEAST = 16  # below this a constant counts something else than the elements of a tile


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Integer constants with a sizing name; `numerator` / `denominator` give the factor."""
    numerator, denominator = int(str(parameters["numerator"])), int(str(parameters["denominator"]))
    sites = []
    for node, name, value in constants(source):
        word, found = source.code(name), _VALUE.match(source.code(value).strip())
        if not found or not _SIZES.search(word) or _NOT_SIZES.search(word):
            continue
        old = int(found.group(1))
        new = old * numerator // denominator
        if old < LEAST or new < LEAST:
            continue
        start = source.shadow.index(found.group(1), value.start_byte)
        edit = Edit(start, start + len(found.group(1)), str(new))
        sites.append(Match(node.start_byte, (edit,), note=f"{word} {old} → {new}"))
    return sites
