"""Parts of tensors: ranges of axes that are loaded, and what outputs are put together of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ci.create.axes import Atom, Axis, leaves_of
from ci.create.graph import Graph
from ci.create.scalars import Scalar, combined, number, supported
from ci.create.tensors import Group, Run, Tensor
from ci.model.errors import InputError

TURNING: Final = ("T", "float32", "float16", "bfloat16", "int32", "int64")
"""Dtypes whose elements take turns: those that a gather moves, or that are cast behind one."""

MOST_COLUMNS: Final = 32
"""Single columns that are stored as one run; each has a line in UB."""

Starts = dict[int, tuple[Scalar, int, int]]
"""Where a part begins, by axis: for any shape, and in the traced case; and its step."""


class Parts:
    """The parts of a graph's tensors, and the groups that say where they begin."""

    def __init__(
        self,
        graph: Graph,
        axes: Sequence[list[Axis]],
        names: Mapping[Atom, str],
        sizes: Mapping[Atom, Scalar],
        checks: Sequence[tuple[str, Scalar]],
    ) -> None:
        self.graph, self.axes, self.names, self.sizes = graph, axes, names, sizes
        self.starts: list[Group] = []
        self._loaded: dict[int, Tensor] = {}
        listed = list(names.values())
        own = {
            s: names[leaf] for leaf, s in sizes.items() if listed.count(names.get(leaf, "")) == 1
        }
        self._as_long = own | {scalar: name for name, scalar in checks}

    @property
    def all(self) -> list[Tensor]:
        """Return those that are loaded."""
        return list(dict.fromkeys(self._loaded.values()))

    def loaded(self, index: int, inputs: Mapping[int, tuple[str, str]]) -> Tensor:
        """The part of an input that a range is."""
        if index in self._loaded:
            return self._loaded[index]
        starts: Starts = {}
        source = index
        while self.graph.nodes[source].op == "slice":
            node = self.graph.nodes[source]
            (axis,) = node.axes()
            begin = told(self.graph, self.axes, self.sizes, int(node.params["sizes"][0]))
            starts[axis] = (begin, int(node.params["start"]), int(node.params["step"]))
            source = node.args[0]
        name, dtype = inputs[int(self.graph.nodes[source].params["number"])]
        part = self._part(f"{name}_part{len(self._loaded)}", name, dtype, source, index, starts)
        same = (p for p in self._loaded.values() if (p.of, p.runs) == (part.of, part.runs))
        self._loaded[index] = next(same, part)
        return self._loaded[index]

    def stored(self, index: int, name: str, dtype: str) -> list[tuple[Tensor, tuple[int, ...]]]:
        """The parts of an output, with the node that each of them is, or those that take turns."""
        together = self._columns(index, name, dtype)
        if together is not None:
            return [together]
        found: list[tuple[Tensor, tuple[int, ...]]] = []
        for place, (nodes, starts) in enumerate(self._pieces(index, {})):
            label = f"{name}_part{place}"
            part = self._part(label, name, dtype, index, nodes[0], starts)
            if len(nodes) == 1 or part.gathered:
                found.append((part, nodes))
                continue
            (axis,) = (a for a, (_, _, step) in starts.items() if step > 1)
            begin, at, step = starts[axis]
            for turn, node in enumerate(nodes):
                later = {**starts, axis: (_more(begin, number(turn)), at + turn, step)}
                part = self._part(f"{label}_{turn}", name, dtype, index, node, later)
                found.append((part, (node,)))
        return found

    def _columns(self, index: int, name: str, dtype: str) -> tuple[Tensor, tuple[int, ...]] | None:
        """An output that is put together of single columns, which take turns in it, and these; None
        for others and for elements that cannot."""
        node, elements = self.graph.nodes[index], self._elements(index, -1)
        if not 1 < len(elements) <= MOST_COLUMNS or dtype not in TURNING:
            return None
        ends = range(node.axes()[0], len(node.shape))
        if any(self.graph.nodes[e].shape[ends.start :] != (1,) * len(ends) for e in elements):
            return None
        starts: Starts = {axis: (number(0), 0, 1) for axis in ends}
        part = self._part(f"{name}_part0", name, dtype, index, elements[0], starts)
        return part, tuple(elements)

    def _elements(self, index: int, outside: int) -> list[int]:
        """What is put together in a node, part by part, the last axis first; itself alone where it
        is not, or in another order."""
        node = self.graph.nodes[index]
        if node.op != "concat" or node.params.get("laced") or node.axes()[0] <= outside:
            return [index]
        return [e for arg in node.args for e in self._elements(arg, node.axes()[0])]

    def _pieces(self, index: int, starts: Starts) -> list[tuple[tuple[int, ...], Starts]]:
        node = self.graph.nodes[index]
        if node.op != "concat":
            return [((index,), starts)]
        (axis,) = node.axes()
        found = []
        begin, at, _ = starts.get(axis, (number(0), 0, 1))
        if node.params.get("laced"):
            if any(self.graph.nodes[a].op == "concat" for a in node.args):
                raise InputError("Parts that take turns were put together of others.")
            return [(node.args, {**starts, axis: (begin, at, len(node.args))})]
        for arg in node.args:
            found += self._pieces(arg, {**starts, axis: (begin, at, 1)})
            begin = _more(begin, size_of(self.axes[arg][axis], self.sizes))
            at += self.graph.nodes[arg].shape[axis]
        return found

    def _part(
        self, name: str, of: str, dtype: str, whole: int, part: int, starts: Starts
    ) -> Tensor:
        runs: list[Run] = []
        for axis, (around, own) in enumerate(zip(self.axes[whole], self.axes[part], strict=True)):
            lengths = [self.names[leaf] for leaf in leaves_of(around)]
            groups = tuple(dict.fromkeys(self.names[leaf] for leaf in leaves_of(own)))
            if axis in starts and lengths:
                if len(lengths) > 1:
                    raise InputError(f"It takes a range of an axis of '{of}' that it splits, too.")
                begin, example, step = starts[axis]
                runs.append(Run(groups, lengths[0], self._start(begin, example), step))
                continue
            for one in lengths:
                if not runs or runs[-1].whole != one:
                    runs.append(Run((one,), one))
        groups = tuple(g for run in runs for g in run.groups)
        return Tensor(name, dtype, groups, of, tuple(runs))

    def _start(self, scalar: Scalar, example: int) -> str:
        """The number, or the group that is as long."""
        if scalar.constant is not None:
            return str(int(scalar.constant))
        if scalar in self._as_long:
            return self._as_long[scalar]
        known = next((g for g in self.starts if g.size == scalar), None)
        if known is None:
            known = Group(f"Start{len(self.starts)}", scalar, example)
            self.starts.append(known)
        return known.name


def range_sizes(
    graph: Graph, axes: Sequence[list[Axis]], needed: set[int], sizes: dict[Atom, Scalar]
) -> list[tuple[Atom, Scalar]]:
    """Add to `sizes` the lengths of the axes of ranges, and of what is put together. Returns what
    else such an axis is as long as, which the host must see to."""
    checks = []
    for index, node in enumerate(graph.nodes):
        if index not in needed or node.op not in ("slice", "concat"):
            continue
        (axis,) = node.axes()
        leaves = leaves_of(axes[index][axis])
        if len(leaves) != 1:
            continue
        if node.op == "slice":
            ends = [told(graph, axes, sizes, int(s)) for s in node.params["sizes"]]
            length = _steps(_less(ends[1], ends[0]), int(node.params["step"]))
            if sizes.setdefault(leaves[0], length) != length:
                checks.append((leaves[0], length))
        elif leaves[0] not in sizes:
            total = number(0)
            for arg in node.args:
                total = _more(total, size_of(axes[arg][axis], sizes))
            sizes[leaves[0]] = total
    return checks


def told(
    graph: Graph, axes: Sequence[list[Axis]], sizes: Mapping[Atom, Scalar], index: int
) -> Scalar:
    """A number of a graph by the shapes of inputs; raises InputError where they do not tell it."""
    node = graph.nodes[index]
    if node.op == "const":
        return number(float(node.params["value"]))
    if node.op == "attr":
        return Scalar("attr", name=str(node.params["name"]))
    if node.op == "extent":
        arg = axes[node.args[0]]
        return size_of([atom for axis in node.axes() for atom in arg[axis]], sizes)
    if node.args and supported(node.op):
        found = [told(graph, axes, sizes, a) for a in node.args]
        if node.op in ("add", "sub"):
            return _more(*found) if node.op == "add" else _less(*found)
        return combined(node.op, *found)
    raise InputError("It takes a range of an axis whose ends depend on values.")


def _more(a: Scalar, b: Scalar) -> Scalar:
    return b if a == number(0) else combined("add", a, b)


def _less(a: Scalar, b: Scalar) -> Scalar:
    if b == number(0):
        return a
    if a.op == "add" and b in a.args:
        return a.args[1 - a.args.index(b)]
    return combined("sub", a, b)


def _steps(length: Scalar, step: int) -> Scalar:
    """How many elements a range has in steps; the last one may be short."""
    if step == 1:
        return length
    rounded = combined("div", combined("add", length, number(step - 1)), number(step))
    return combined("floor", rounded)


def size_of(axis: Axis, sizes: Mapping[Atom, Scalar]) -> Scalar:
    """The length of an axis."""
    found = number(1)
    for leaf in leaves_of(axis):
        if leaf not in sizes:
            raise InputError("It takes a range of an axis whose length inputs do not tell.")
        found = combined("mul", found, sizes[leaf])
    return found
