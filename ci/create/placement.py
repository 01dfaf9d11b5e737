"""The phase that computes each item and stores each tensor, and what phases leave to later ones.

In a phase all reductions go over the same axes, in one loop. A reduction that needs the result of
one over other axes comes in a later phase; what it needs then lies in the workspace. An output
whose reductions go over other axes than those of the outputs before it has a phase of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from ci.create.items import Item
from ci.create.layout import KEPT, Layout
from ci.create.tensors import Tensor

_Root = tuple[tuple[int, ...], frozenset[str]]

MOST_PHASES: Final = 32
"""More than any golden function needs: what finds no phase up to there finds none."""


def is_total(item: Item) -> bool:
    """Whether an item is a reduction to one number."""
    return item.op.startswith("fold ") and not item.groups


def disagree(items: Sequence[Item], needed: Sequence[int]) -> bool:
    """Whether the reductions among items of one phase cannot go in one loop."""
    folds = [items[i] for i in needed if items[i].along and not is_total(items[i])]
    looped = frozenset().union(*(one.along for one in folds))
    return any(
        one.op.startswith("fold") and (one.groups & looped or not _arguments(items, one) >= looped)
        for one in folds
    )


def _arguments(items: Sequence[Item], item: Item) -> frozenset[str]:
    """The groups that the arguments of an item vary over."""
    return frozenset().union(*(items[a].groups for a in given(item)))


def given(item: Item) -> tuple[int, ...]:
    """The items among the arguments of one."""
    return tuple(a for a in item.args if isinstance(a, int))


def _from_memory(item: Item) -> tuple[int, ...]:
    """The items among the arguments of one that it takes from the workspace: what windows are of,
    and what is indexed."""
    if KEPT not in item.op.split():
        return ()
    return given(item)[item.op.startswith("gather") :]


@dataclass
class Placement:
    """The phases of a layout."""

    layout: Layout
    phases: list[int] = field(default_factory=list)
    """The first phase that has each item; a reduction to one number is there in the next one."""
    stores: list[int] = field(default_factory=list)
    """The phase that stores each of the layout's targets."""
    kept: dict[int, tuple[Tensor, int]] = field(default_factory=dict)
    """Tensors in the workspace by the item that they are, with the phase that stores it."""

    def __post_init__(self) -> None:
        self._roots: dict[int, list[_Root]] = {}
        wanted = self._left_to_later_phases()
        items = self.layout.items
        for i, item in enumerate(items):
            left = _from_memory(item)  # by an earlier phase
            before = max((self.phases[a] for a in given(item) if a not in left), default=0)
            before = max((before, *(self.kept[a][1] + 1 for a in left)))
            if is_total(item):
                self.phases.append(self._placed((i,), before, _arguments(items, item)) + 1)
                continue
            fits = (p for p in range(before, MOST_PHASES) if not disagree(*self._seen([(i,)], p)))
            self.phases.append(next(fits, before) if item.along else before)
            if i in wanted:
                at = self._placed((i,), self.phases[i], item.groups)
                self.kept[i] = self._tensor(item), at
        for tensor, own in zip(self.layout.targets, self.layout.stored, strict=True):
            first = max(self.phases[i] for i in own)
            self.stores.append(self._placed(own, first, tensor.groups))

    def items(self, phase: int) -> list[Item]:
        """The layout's items as a phase has them: what an earlier one left is loaded."""
        found = [
            self._of_memory(item) if self._left(item, phase) else item for item in self.layout.items
        ]
        for i, (tensor, at) in self.kept.items():
            if at < phase:
                found[i] = Item(f"load {tensor.name}", (), found[i].groups)
        return found

    def _left(self, item: Item, phase: int) -> bool:
        """Whether an item takes what an earlier phase than this has left."""
        own = _from_memory(item)
        return bool(own) and all(a in self.kept and self.kept[a][1] < phase for a in own)

    def _of_memory(self, item: Item) -> Item:
        """An item that takes what lies in the workspace."""
        own = _from_memory(item)
        args = tuple(a for a in item.args if a not in own)
        return replace(item, op=item.op.replace(KEPT, self.kept[own[0]][0].name), args=args)

    def _tensor(self, item: Item) -> Tensor:
        others = (tensor for tensor, _ in self.kept.values())
        taken = {t.name for t in (*self.layout.inputs, *self.layout.outputs, *others)}
        names = (f"kept{n}" for n in range(len(taken) + 1))
        groups = tuple(g.name for g in self.layout.groups if g.name in item.groups)
        return Tensor(next(n for n in names if n not in taken), "float32", groups, kept=True)

    def _left_to_later_phases(self) -> set[int]:
        """The items that reductions over other axes need, or that meet the results of such."""
        items, found = self.layout.items, set[int]()
        for i, item in enumerate(items):
            found |= {*_from_memory(item)}
            if item.along and not is_total(item):
                before = self._reductions(given(item), found)
                found |= {j for j in before if disagree(items, (j, i))}
        totals = [given(item) for item in items if is_total(item)]
        for own in (*totals, *self.layout.stored):
            both = combinations(sorted(self._reductions(own, found)), 2)
            found |= {j for j, k in both if disagree(items, (j, k))}
        return found

    def _reductions(self, roots: Sequence[int], known: set[int]) -> set[int]:
        """The reductions and scans that roots are or need; none behind those that are `known`."""
        items, seen, left = self.layout.items, set[int](), list(roots)
        while left:
            one = left.pop()
            if one not in seen and not is_total(items[one]):
                seen.add(one)
                left += () if one in known else given(items[one])
        return {one for one in seen if items[one].along}

    def _placed(self, own: tuple[int, ...], phase: int, groups: Iterable[str]) -> int:
        """The first phase from `phase` on that can do items besides what else it does: store them
        over `groups`, or reduce what varies over these to one number. `phase` where there is none.
        """
        root = own, frozenset(groups)
        tries = range(phase, MOST_PHASES)
        fits = (p for p in tries if not self._clash([*self._roots.get(p, []), root], p))
        found = next(fits, phase)
        self._roots.setdefault(found, []).append(root)
        return found

    def _seen(self, roots: Sequence[tuple[int, ...]], phase: int) -> tuple[list[Item], list[int]]:
        """The items as a phase has them, and those that it needs."""
        items = self.items(phase)
        left, found = [i for own in roots for i in own], set[int]()
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                ends = is_total(items[one]) and (one,) not in roots
                left += () if ends else given(items[one])
        return items, sorted(found)

    def _clash(self, roots: Sequence[_Root], phase: int) -> bool:
        """Whether a phase cannot do all of it: its loops, or what its cores share, differ."""
        items, needed = self._seen([own for own, _ in roots], phase)
        if disagree(items, needed):
            return True
        if len(roots) == 1:
            return False
        loops = (items[i].along for i in needed if not is_total(items[i]))
        looped = frozenset[str]().union(*loops)
        shared = frozenset[str]().union(*(items[i].groups for i in needed)) - looped
        for own, groups in roots:
            once = not groups & looped or groups >= looped  # a total counts each element once
            if not groups >= shared or (is_total(items[own[0]]) and not once):
                return True
        return False
