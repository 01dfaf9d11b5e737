"""Core counts that are worth trying, from the devices that a host tiling may run on."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from rules.devices import device_names, load_device, nearest_device


class CoreCounts(NamedTuple):
    """Vector cores of a device, and of every device with the same AI core.

    A host tiling is compiled once for all of them.
    """

    own: int
    kin: tuple[int, ...]

    def steps(self) -> tuple[int, ...]:
        """Block dims worth trying, ascending: powers of two, and the counts halved while even."""
        halves = (n for count in self.kin for n in (count, *_halves(count)) if n > 1)
        return tuple(sorted({1, *self._powers(max(self.kin)), *halves}))

    def promising_numbers(self) -> tuple[int, ...]:
        """Numbers of cores, the most promising first: all, half, then others by turns."""
        others = [n for count in self.kin if count != self.own for n in (count, count // 2)]
        return tuple(dict.fromkeys((
            self.own, self.own // 2, *_by_turns(self._powers(self.own), others)
        )))  # fmt: skip

    def promising_caps(self) -> tuple[int, ...]:
        """Limits below all cores, the most promising first: halves by turns with other counts."""
        others = {n for count in self.kin for n in (count, count // 2)} - {self.own}
        others |= set(self._powers(self.own))
        halves = _halves(self.own)
        rest = sorted((n for n in others - set(halves) if n < self.own), reverse=True)
        return _by_turns(halves, rest)

    @staticmethod
    def _powers(below: int) -> tuple[int, ...]:
        """Powers of two from 2 on, below a count, descending."""
        return tuple(2**p for p in range(below.bit_length() - 1, 0, -1) if 2**p < below)


def core_counts(device: str) -> CoreCounts:
    """The counts of a device by its name or SoC; an unknown one is taken for the smallest chip."""
    known = [load_device(name) for name in device_names()]
    own = nearest_device(device)
    kin = {d.vector_cores for d in known if d.architecture.name == own.architecture.name}
    return CoreCounts(own.vector_cores, tuple(sorted(kin, reverse=True)))


def _halves(count: int) -> tuple[int, ...]:
    """Half of a count, and so on while the halves are even."""
    found = []
    while count % 4 == 0:
        count //= 2
        found.append(count)
    return tuple(found)


def _by_turns(one: tuple[int, ...], two: list[int]) -> tuple[int, ...]:
    return tuple(n for pair in zip_longest(one, two) for n in pair if n is not None)
