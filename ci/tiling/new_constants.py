"""Constants that a candidate introduced: other values of them are worth a try.

A model or a motif that writes `constexpr uint32_t ROWS = 8;` has guessed the 8. Each new whole
number is doubled and halved, one at a time, from the program at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from ci.model.operator import Operator
from ci.model.trial import Candidate, Change, Trial
from ci.source.cpp_source import constants, parse

FACTORS: Final = (2.0, 0.5)
"""One that gains is the start of the next."""

LARGEST: Final = 1 << 20
"""A larger number is a size of memory or a mask, and no choice of how much is done at once."""

_NUMBER = re.compile(r"(\d+)([uUlL]*)")


def introduced(before: str, after: str) -> list[tuple[str, int, int, int]]:
    """(name, first index, end, value) of each whole constant of `after` that `before` lacks.

    In capitals: what a kernel calls otherwise is a fact of its layout more often than a choice.
    """
    known = {source.code(name) for source in [parse(before)] for _, name, _ in constants(source)}
    source = parse(after)
    found = []
    for _, name, value in constants(source):
        number = _NUMBER.fullmatch(source.code(value))
        chosen = source.code(name) not in known and source.code(name).isupper()
        if number and chosen and 1 < int(number.group(1)) <= LARGEST:
            end = value.start_byte + len(number.group(1))
            found.append((source.code(name), value.start_byte, end, int(number.group(1))))
    return found


def tuned(
    operator: Operator,
    best: Trial,
    history: Sequence[Trial],
    stage: Literal["tiling", "kernel", "joint"],
    paths: Sequence[str],
) -> Iterator[Candidate]:
    """`best` with one introduced constant at another value, what was not tried yet."""
    seen = {t.candidate.hash for t in history}
    files = best.candidate.files
    changed = [p for p in paths if p in files]
    places = [(p, *one) for p in changed for one in introduced(operator.read(p), files[p])]
    for factor in FACTORS:
        for path, name, start, end, value in places:
            new = int(value * factor)
            text = f"{files[path][:start]}{new}{files[path][end:]}"
            candidate = Candidate(
                files=files | {path: text},
                stage=stage,
                parent=best.candidate.hash,
                proposer="rules",
                rationale=f"{name} from {value} to {new}: a constant of an earlier step.",
                motif_ids=("introduced",),
                parts=(Change(what=f"{name} is {new} instead of {value}", path=path, knob=name),),
            )
            if new >= 1 and new != value and candidate.hash not in seen:
                yield candidate
