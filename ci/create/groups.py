"""Groups: in which order axes lie in tensors, and which of them belong together."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Final

from ci.create.axes import Atom, leaves_of
from ci.create.graph import DOTS, GATHER, Graph
from ci.model.errors import InputError

MEETS_ITSELF: Final = "One axis of a tensor meets another one of the same tensor."


def in_order(orders: list[list[Atom]]) -> list[Atom]:
    """All leaves, so that tensors have their own in this order: every one where that can be, else
    the longest and those before others."""
    if any(len(set(order)) != len(order) for order in orders):
        raise InputError(MEETS_ITSELF)
    kept: list[list[Atom]] = []
    for order in (max(orders, key=len), *orders):
        if _sorted([*kept, order]) is None:  # this tensor has its axes in another order
            order = [leaf for leaf in order if not any(leaf in one for one in kept)]
        kept.append(order)
    found = _sorted(kept)
    assert found is not None
    return found


def _sorted(orders: list[list[Atom]]) -> list[Atom] | None:
    sorter: TopologicalSorter[Atom] = TopologicalSorter()
    for order in orders:
        for leaf in order:
            sorter.add(leaf)
        for before, after in zip(order, order[1:], strict=False):
            sorter.add(after, before)
    try:
        return list(sorter.static_order())
    except CycleError:
        return None


def named(
    graph: Graph,
    axes: list[list[list[Atom]]],
    needed: list[int],
    leaves: list[Atom],
    tensors: list[list[Atom]],
) -> dict[Atom, str]:
    """The name of the group of each leaf; in `tensors`, of memory, a group is one run."""

    def apart(before: Atom, leaf: Atom) -> bool:
        both = [t for t in tensors if before in t and leaf in t]
        return any(t.index(leaf) != t.index(before) + 1 for t in both)

    marks: list[set[Atom]] = []
    for i in needed:
        marks.append(set(leaves_of([a for axis in axes[i] for a in axis])))
        node = graph.nodes[i]
        if node.op.startswith(("reduce_", "scan_", "window_")) or node.op in ("iota", GATHER):
            arg = axes[node.args[0]]
            marks.append(set(leaves_of([a for axis in node.axes() for a in arg[axis]])))
            if node.op.startswith("window_"):
                marks += [set(leaves_of(arg[axis])) for axis in node.axes()]
                further = 1 if node.op in DOTS else 0
                marks += [set(leaves_of(axes[i][axis + further])) for axis in node.axes()]
            if node.op in DOTS:
                marks += [set(leaves_of(axis)) for axis in axes[node.args[1]]]
        if node.op in ("slice", "concat"):
            (along,) = node.axes()
            marks += [set(leaves_of(axes[a][along])) for a in (i, *node.args)]
    names: dict[Atom, str] = {}
    number_ = -1
    for before, leaf in zip([None, *leaves], leaves, strict=False):
        if (
            before is None
            or any((before in m) != (leaf in m) for m in marks)
            or apart(before, leaf)
        ):
            number_ += 1
        names[leaf] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[min(number_, 25)]
    return names
