"""What a comparison in an operator's code saw in one launch, and whether it went both ways."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Operands: TypeAlias = tuple[float, float]


class Decision(NamedTuple):
    """A comparison, a modulus, a loop's bound or a case of a switch, at a place of the sources."""

    file: str
    line: int
    unit: str
    """The program that it is in: a kernel is built for each tiling key and dtype."""
    site: int
    """Its address there."""
    branch: int
    """The address that called the library for it, or the number of a case of a switch."""
    blocks: frozenset[int] = frozenset()
    """Addresses, in one build, of the code that ran next."""
    is_case: bool = False
    """A case of a switch: it is taken, or it is not."""
    below: Operands | None = None
    """The nearest pair whose first is less."""
    above: Operands | None = None
    same: float | None = None
    """Both operands, where they were equal."""
    is_value: bool = False
    """Its outcome is kept, and what ran next may be another comparison's doing."""
    is_step: bool = False
    """No comparison of the source: an operand of a quotient and the like, and the number from which
    on its result is another."""

    @property
    def key(self) -> tuple[str, str, int, int, int]:
        """Names it among those of one candidate."""
        return self.unit, self.file, self.line, self.site, self.branch

    @property
    def both_ways(self) -> bool:
        """Whether both outcomes were seen, whatever is compared with whatever sign."""
        orders = (self.below is not None, self.same is not None, self.above is not None)
        if self.is_case:
            return self.same is not None and (orders[0] or orders[2])
        told = not self.is_value or (orders[1] and (orders[0] or orders[2]))
        return (len(self.blocks) > 1 and told) or all(orders)

    def also(self, other: Decision) -> Decision:
        """Both launches' together."""
        return self._replace(
            blocks=self.blocks | other.blocks,
            below=_nearest(self.below, other.below),
            above=_nearest(self.above, other.above),
            same=self.same if self.same is not None else other.same,
            is_value=self.is_value or other.is_value,
        )

    def gap(self) -> float | None:
        """First operand less the second, the nearest to equal; None for what was not reached."""
        if self.same is not None:
            return 0.0
        pairs = [pair for pair in (self.below, self.above) if pair is not None]
        return min((a - b for a, b in pairs), key=abs, default=None)


def _nearest(one: Operands | None, other: Operands | None) -> Operands | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda pair: abs(pair[0] - pair[1]))
