"""Which axes of a graph are the same: atoms that unify where tensors meet and split in reshapes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ci.create.graph import DOTS, ELEMENTWISE, GATHER, Graph
from ci.model.amount import amount
from ci.model.errors import InputError


class Atom:
    """A piece of an axis. It may turn out to be another one, or several in a row."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.same: Atom | None = None
        self.parts: tuple[Atom, Atom] | None = None

    def leaves(self) -> list[Atom]:
        """What it consists of, outermost first."""
        if self.same is not None:
            return self.same.leaves()
        if self.parts is not None:
            return [leaf for part in self.parts for leaf in part.leaves()]
        return [self]


Axis = list[Atom]


def leaves_of(axis: Sequence[Atom]) -> list[Atom]:
    """The leaves of an axis that consists of atoms."""
    return [leaf for atom in axis for leaf in atom.leaves()]


def unify(a: Axis, b: Axis) -> None:
    """Say that two axes of one size are the same; raises InputError when they cannot be."""
    while True:
        left, right = leaves_of(a), leaves_of(b)
        pair = next(((x, y) for x, y in zip(left, right, strict=False) if x is not y), None)
        if pair is None:
            return
        x, y = pair
        if x.size == y.size:
            y.same = x
        elif x.size % y.size == 0:
            x.parts = (y, Atom(x.size // y.size))
        elif y.size % x.size == 0:
            y.parts = (x, Atom(y.size // x.size))
        else:
            raise InputError(
                f"Axes of {x.size} and {amount(y.size, 'element')} meet across a reshape."
            )


def axes_of_nodes(graph: Graph) -> list[list[Axis]]:
    """For each node, its axes as atoms; an axis of one element has none.

    Raises InputError for what has no place in one space of axes.
    """
    found: list[list[Axis]] = []
    alike: dict[tuple[object, ...], list[Axis]] = {}
    needed = graph.needed()
    for place, node in enumerate(graph.nodes):
        args = [found[a] for a in node.args]
        axes: list[Axis] = []
        if place not in needed and node.op != "input":
            found.append([[] for _ in node.shape])
            continue
        if node.op == "input":
            axes = [[Atom(n)] if n != 1 else [] for n in node.shape]
        elif node.op in ELEMENTWISE or node.op == "broadcast":
            axes = _met(args, node.shape)
        elif node.op.startswith("reduce_"):
            gone = node.axes()
            axes = [[] if i in gone else axis for i, axis in enumerate(args[0])]
        elif node.op.startswith("scan_"):
            axes = args[0]
        elif node.op == "iota":
            axes = [axis if i in node.axes() else [] for i, axis in enumerate(args[0])]
        elif node.op == "transpose":
            axes = [args[0][int(i)] for i in node.params["order"]]
        elif node.op == "reshape":
            axes = _cut([atom for axis in args[0] for atom in axis], node.shape)
        elif node.op in DOTS:
            samples, group, channels = args[0][:3]
            own_group, rows, own_channels = args[1][:3]
            unify(group, own_group)
            unify(channels, own_channels)
            inner = [[Atom(n)] if n != 1 else [] for n in node.shape[4:]]
            axes = [samples, group, rows, channels, *inner]
        elif node.op == GATHER:
            (along,) = node.axes()
            axes = [*args[0][:along], *args[1], *args[0][along + 1 :]]
            if node.params.get("each"):
                axes = args[1]
                for i, (a, b) in enumerate(zip(axes, args[0], strict=True)):
                    if i != along:
                        unify(a, b)
        elif node.op.startswith("window_"):
            axes = [
                [Atom(n)] if i in node.axes() and n != 1 else axis
                for i, (axis, n) in enumerate(zip(args[0], node.shape, strict=True))
            ]
        elif node.op == "slice":
            (along,) = node.axes()
            own = [Atom(node.shape[along])] if node.shape[along] != 1 else []
            fixed = all(graph.nodes[int(s)].op == "const" for s in node.params["sizes"])
            apart = [node.params[k] for k in ("start", "step")] if node.params["step"] > 1 else []
            ranges = alike.setdefault((*leaves_of(args[0][along]), fixed, *apart), [])
            for before in ranges if own else ():
                if before[0].size == own[0].size:  # halves, thirds …
                    unify(before, own)
            ranges += [own] if own else []
            axes = [own if i == along else axis for i, axis in enumerate(args[0])]
        elif node.op == "concat":
            (along,) = node.axes()
            for other in args[1:]:
                for i, (a, b) in enumerate(zip(args[0], other, strict=True)):
                    if i != along or node.params.get("laced"):
                        unify(a, b)
            axes = [[Atom(node.shape[i])] if i == along else a for i, a in enumerate(args[0])]
        elif node.op in ("const", "attr", "extent", "rank"):
            axes = []
        else:
            raise InputError(f"'{node.op}' of a tensor is not lowered outside a known pattern.")
        found.append(axes)
    return found


def _met(args: list[list[Axis]], shape: tuple[int, ...]) -> list[Axis]:
    axes: list[Axis] = []
    for place, size in enumerate(shape):
        meeting = [
            arg[place - len(shape) + len(arg)] for arg in args if place - len(shape) + len(arg) >= 0
        ]
        real = [axis for axis in meeting if axis]
        for other in real[1:]:
            unify(real[0], other)
        axes.append(real[0] if real else [Atom(size)] if size != 1 else [])
    return axes


def _cut(atoms: list[Atom], shape: tuple[int, ...]) -> list[Axis]:
    """The atoms in a row, cut into axes of these sizes."""
    rest = leaves_of(atoms)
    axes: list[Axis] = []
    for size in shape:
        axis: Axis = []
        while prod(a.size for a in axis) < size:
            if not rest:
                raise InputError("A reshape does not fit the axes of its tensor.")
            first = rest.pop(0)
            missing, more = divmod(size, prod(a.size for a in axis))
            if more:
                raise InputError(
                    f"A reshape joins parts of axes into one of {amount(size, 'element')}."
                )
            if first.size > missing:
                if first.size % missing:
                    raise InputError(f"A reshape cuts an axis of {first.size} into {missing}.")
                first.parts = (Atom(missing), Atom(first.size // missing))
                rest.insert(0, first.parts[1])
                first = first.parts[0]
            axis.append(first)
        if prod(a.size for a in axis) != size:
            raise InputError(
                f"A reshape joins parts of axes into one of {amount(size, 'element')}."
            )
        axes.append(axis)
    return axes
