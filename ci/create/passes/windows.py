"""Windows of a tensor: what a tile of outputs needs of the input, and where that lies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ci.create.graph import DOTS
from ci.create.passes.base import Room
from ci.create.program import Phase
from ci.create.tensors import Tensor

DOT, UNDOT = (op.removeprefix("window_") for op in DOTS)
"""Windows that are multiplied by weights and summed, and the other way round."""


@dataclass(frozen=True)
class Window:
    """A fold of windows along the last axes: their sizes, steps and paddings, outermost first."""

    kind: str
    size: tuple[int, ...]
    step: tuple[int, ...]
    pad: tuple[int, ...]
    apart: tuple[int, ...]
    """The distance of neighbours in a window."""

    @classmethod
    def read(cls, op: str) -> Window:
        """Read a window from an operation such as `window max 3,3 2,2 1,1`; of a `dot` a fourth
        group of numbers says how far apart neighbours are, of an `undot` a fifth how much longer
        the result is than what windows reach."""
        _, kind, *numbers = op.split()
        size, step, pad, *rest = (tuple(map(int, n.split(","))) for n in numbers)
        apart, *_ = rest or [(1,) * len(size)]
        return cls(kind, size, step, pad, apart)

    def _of(self, place: int) -> tuple[int, int, int]:
        """Size, step and padding of an axis, from the last; one by one where there is none."""
        if place >= len(self.size):
            return 1, 1, 0
        at = len(self.size) - 1 - place
        return self.size[at], self.step[at], self.pad[at]

    @property
    def halo(self) -> Room:
        """The input's elements that a tile sees, rows rounded up to blocks; of a `dot` those that
        it sees of one row."""
        if self.kind == UNDOT:
            return Room(0, 0, 1, (self.size[-1] - 1) * self.apart[-1] + 50)
        if self.kind == DOT:
            return Room(0, 0, self.step[-1], (self.size[-1] - 1) * self.apart[-1] + 33)
        (along, step, _), (down, skip, _) = self._of(0), self._of(1)
        room = along + 32
        return Room(skip * step, skip * room, down * step, down * room)

    @property
    def lines(self) -> Room:
        """The same with the rows of each output folded."""
        along, step, _ = self._of(0)
        return Room(step, along + 32, 0, along + 32)

    def base(self, phase: Phase, tensor: Tensor) -> str:
        """Where the planes that a unit sees begin in the tensor."""
        inner = len(self.size) if len(self.size) > 1 else 2
        lead = tensor.groups[: max(0, len(tensor.groups) - inner)]
        terms = []
        for place, group in enumerate(lead):
            index = "rowStart" if group == phase.rows else f"at{group}"
            lengths = [f"length{g}" for g in tensor.groups[place + 1 :]]
            terms.append(" * ".join([index, *lengths]))
        return " + ".join(terms) or "0"

    def axes(self, phase: Phase, tensor: Tensor) -> list[str]:
        """Depth, rows and columns as the kernel's `WindowAxis`."""
        groups = tensor.groups
        found = []
        starts = ["colStart", "rowStart", f"at{phase.outer[-1]}" if phase.outer else "0"]
        for place in range(3):
            size, step, pad = self._of(place)
            known = place < len(groups) and (place < len(self.size) or place == 1)
            length = f"length{groups[-1 - place]}" if known else "1"
            start = starts[place] if known and (place < 2 or len(self.size) > 2) else "0"
            if place == 1 and not phase.rows:
                start = "0"
            found.append(f"WindowAxis{{{size}, {step}, {pad}, {start}, {length}}}")
        return found[::-1]

    def weighted(
        self, phase: Phase, tensor: Tensor, weights: Tensor, groups: Collection[str]
    ) -> list[str]:
        """What the kernel takes for a `dot` that varies over `groups`: where planes and weights
        begin, the distance of the weights of neighbouring rows, and depth, rows and columns as its
        `WindowAxis`.
        """
        inner = len(self.size)
        own = [g for g in phase.outer if g in {*groups} - {*tensor.groups, *weights.groups}]
        starts = ["colStart", *(f"at{g}" for g in reversed(own))]
        axes = ["WindowAxis{1, 1, 0, 0, 1}"] * (3 - inner)
        for place, group in enumerate(tensor.groups[-inner:]):
            numbers = (self.size[place], self.step[place], self.pad[place])
            start = starts[inner - 1 - place]
            given = ", ".join([*map(str, numbers), start, f"length{group}", str(self.apart[place])])
            axes.append(f"WindowAxis{{{given}}}")
        lead = [g for g in weights.groups if g in groups]
        places = [g for g in lead if g != phase.rows]
        row = _factors(weights, phase.rows) if phase.rows in lead else ["0"]
        at = _at(weights, lead, {g: f"at{g}" for g in places} | {phase.rows: "rowStart"})
        first = tensor.groups[:-inner]
        return [_at(tensor, first, {g: f"at{g}" for g in first}), at, " * ".join(row), *axes]


def _at(tensor: Tensor, groups: Collection[str], starts: dict[str, str]) -> str:
    """Where in a tensor something lies, which begins along `groups` at `starts`."""
    terms = (" * ".join([starts[group], *_factors(tensor, group)]) for group in groups)
    return " + ".join(terms) or "0"


def _factors(tensor: Tensor, group: str) -> list[str]:
    return [f"length{g}" for g in tensor.behind(group)]
