"""Windows of a tensor: what a tile of outputs needs of the input, and where that lies."""

from __future__ import annotations

from dataclasses import dataclass

from ci.create.passes.base import Room
from ci.create.program import Phase
from ci.create.tensors import Tensor


@dataclass(frozen=True)
class Window:
    """A fold of windows along the last axes: their sizes, steps and paddings, outermost first."""

    kind: str
    size: tuple[int, ...]
    step: tuple[int, ...]
    pad: tuple[int, ...]

    @classmethod
    def read(cls, op: str) -> Window:
        """Read a window from an operation such as `window max 3,3 2,2 1,1`."""
        _, kind, *numbers = op.split()
        size, step, pad = (tuple(map(int, n.split(","))) for n in numbers)
        return cls(kind, size, step, pad)

    def _of(self, place: int) -> tuple[int, int, int]:
        """Size, step and padding of an axis, from the last; one by one where there is none."""
        if place >= len(self.size):
            return 1, 1, 0
        at = len(self.size) - 1 - place
        return self.size[at], self.step[at], self.pad[at]

    @property
    def halo(self) -> Room:
        """The input's elements that a tile sees, rows rounded up to blocks."""
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
