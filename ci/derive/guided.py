"""Searches for cases that a host tiling takes, led by what it compares until it refuses.

The host side is built to be watched. Where it refuses a case, a comparison was not as it wants: of
a rank, a length, an attribute with a constant, or of two of these. What of the case is the one
operand is made the other. A case that goes a way of its own is changed further; those first that
come where few others do, unless many that end alike had their turns.

What the repository's own examples and tests say comes first: a case that keeps most of it is one
that somebody may ask for. Only where none leads to what the tiling takes, shapes of nobody do.
How much is asked is counted, not timed: another machine finds the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from math import prod

from ci.derive.candidates import GENERIC, Sourced, case_of_shapes, other_attributes, usual_columns
from ci.derive.case_places import Changing
from ci.derive.host_queries import Asker, Place, Steps, Taken
from ci.model.operator import Operator
from ci.model.workload import TensorCase, WorkloadCase

MOST_ASKED = 5000
"""Cases; a host side answers about a thousand a second."""

MOST_MORE = 1500
"""Cases that are asked after the first one that is taken: another may be better for the kernel."""

MOST_COMPARED = 2_000_000
"""Comparisons of all cases together after which no more are asked: a case of a large tiling costs
more."""

MOST_OF_OWN = 2000
"""Cases that are asked around those of the repository, before any other."""

ENOUGH = 16
"""Cases that are taken."""

_TURN = 60
"""Changes of a case that are asked before another one has its turn."""

_BATCH = 120
_END = 3
_MOST_ELEMENTS = 1 << 22

_UNIFORM = ((64, 256), (4, 16, 64), (2, 16, 4, 64), (4096,), (2, 4, 3, 16, 64))
"""Shapes that all inputs have."""

SOURCE = "shapes that fit the tiling's checks"
CHANGED = "{}, changed to fit the tiling's checks"
"""Source of what began as a case of the repository."""


@dataclass
class _Known:
    """A case that was asked."""

    case: WorkloadCase
    steps: Steps
    changes: Iterator[WorkloadCase]

    @property
    def end(self) -> tuple[Place, ...]:
        """Where it ended."""
        return tuple(place for place, _, _ in self.steps[-_END:])


def guided_cases(operator: Operator, asker: Asker, starts: Sequence[Sourced]) -> list[Sourced]:
    """Cases that the tiling takes, [] where none was found; `asker` asks a build to be watched.

    `starts` are cases that it refuses, by where they come from.
    """
    own = [(source, case) for source, case in starts if source != GENERIC]
    if own:
        found = _Search(operator, asker, left=MOST_OF_OWN).found([case for _, case in own])
        if found:
            return [(CHANGED.format(own[0][0]), case) for case in found]
    others = [*(case for _, case in starts), *_first_cases(operator)]
    return [(SOURCE, case) for case in _Search(operator, asker).found(others)]


def is_guided(source: str) -> bool:
    """Whether cases of this source were found by what a tiling compares."""
    return source.endswith(SOURCE.removeprefix("shapes that "))


@dataclass
class _Search:
    operator: Operator
    asker: Asker
    known: list[_Known] = field(default_factory=list)
    taken: list[WorkloadCase] = field(default_factory=list)
    turns: Counter[tuple[Place, ...]] = field(default_factory=Counter)
    visits: Counter[Place] = field(default_factory=Counter)
    ways: set[int] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    left: int = MOST_ASKED
    compared: int = 0

    def found(self, starts: Sequence[WorkloadCase]) -> list[WorkloadCase]:
        """Cases that the tiling takes, found from `starts`."""
        self._ask(starts)
        while self.left > 0 and len(self.taken) < ENOUGH and self.known:
            next_ = max(self.known, key=self._worth)
            self.turns[next_.end] += 1
            changes = [*islice(next_.changes, _TURN)]
            if not changes:
                self.known.remove(next_)
            self._ask(changes)
        return self.taken

    def _worth(self, known: _Known) -> float:
        """How much it compared that few others did, less for each turn of those that end alike."""
        rare = sum(1 / self.visits[place] for place, _, _ in known.steps)
        return rare / (1 + self.turns[known.end])

    def _changes(self, case: WorkloadCase, steps: Steps) -> Iterator[WorkloadCase]:
        changing = Changing(self.operator, case)
        done: set[tuple[int, int]] = set()
        for _, a, b in reversed(steps):
            if a == b or not (isinstance(a, int) and isinstance(b, int)):
                continue
            for pair in ((a, b), (b, a)):
                if pair not in done:
                    done.add(pair)
                    yield from changing.becoming(*pair)
        yield from changing.otherwise()
        yield from other_attributes(self.operator, case)

    def _ask(self, cases: Sequence[WorkloadCase]) -> None:
        new = []
        for case in cases:
            identity = repr((case.inputs, case.attrs))
            if identity not in self.asked and _elements(case) <= _MOST_ELEMENTS:
                self.asked.add(identity)
                new.append(case)
        for at in range(0, len(new), _BATCH):
            batch = new[at : at + _BATCH]
            self.left -= len(batch)
            for case, answer in zip(batch, self.asker.ask(batch), strict=True):
                self._note(case, answer)
            if self.compared > MOST_COMPARED:
                self.left = 0
            if len(self.taken) >= ENOUGH or self.left <= 0:
                return

    def _note(self, case: WorkloadCase, answer: Taken | str) -> None:
        if isinstance(answer, Taken):
            if not self.taken:
                self.left = min(self.left, MOST_MORE)
            self.taken.append(case)
        steps = self.asker.compared(case)
        self.compared += len(steps)
        self.visits.update({place for place, _, _ in steps})
        way = hash(tuple(sorted((place, a < b, a > b) for place, a, b in steps)))
        if way not in self.ways:
            self.ways.add(way)
            self.known.append(_Known(case, steps, self._changes(case, steps)))


def _elements(case: WorkloadCase) -> int:
    every = [t for e in case.inputs for t in (e if isinstance(e, tuple) else (e,))]
    return sum(prod(t.shape) for t in every if isinstance(t, TensorCase) and t.present)


def _first_cases(operator: Operator) -> Iterator[WorkloadCase]:
    """Cases whose inputs all have one shape, and cases in which no length is that of another."""
    inputs = len(operator.inputs)
    for column in usual_columns(operator)[:2]:
        for shape in _UNIFORM:
            yield case_of_shapes(operator, column, [shape] * inputs, f"all_{len(shape)}d")
        for rank in (2, 3, 4):
            lengths = count(2)
            shapes = [
                (*(next(lengths) for _ in range(rank - 1)), 16 * next(lengths))
                for _ in range(inputs)
            ]
            yield case_of_shapes(operator, column, shapes, f"each_{rank}d")
