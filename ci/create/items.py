"""Primitive operations, each written once."""

from __future__ import annotations

from dataclasses import dataclass

from ci.create.scalars import Scalar


@dataclass(frozen=True)
class Item:
    """A primitive operation; an argument is the place of an item or a number."""

    op: str
    args: tuple[int | Scalar, ...]
    groups: frozenset[str]
    mask: bool = False
    along: frozenset[str] = frozenset()
    """Groups that are reduced or scanned."""


class Items:
    """All that are written; each has a place."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._known: dict[Item, int] = {}

    def item(
        self,
        op: str,
        args: tuple[int | Scalar, ...],
        groups: frozenset[str] | None = None,
        *,
        mask: bool = False,
        along: frozenset[str] = frozenset(),
    ) -> int:
        """A primitive operation, one of a kind."""
        if groups is None:
            given = [self.items[a].groups for a in args if isinstance(a, int)]
            groups = frozenset().union(*given)
        made = Item(op, args, groups, mask, along)
        if made not in self._known:
            self.items.append(made)
            self._known[made] = len(self.items) - 1
        return self._known[made]

    def is_mask(self, value: int | Scalar) -> bool:
        """Whether a value is a mask."""
        return isinstance(value, int) and self.items[value].mask
