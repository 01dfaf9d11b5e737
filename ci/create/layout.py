"""The graph in one space of axes: groups of axes that belong together, and primitive operations.

A group is a run of axes that every tensor has or lacks as a whole and every reduction takes as a
whole, so softmax over the last axis is [A, R] whatever the rank of its input is. Casts among
floating-point dtypes vanish: all is computed in float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ci.create.axes import Atom, axes_of_nodes, leaves_of
from ci.create.expand import Expander
from ci.create.graph import DOTS, ELEMENTWISE, GATHER, UNDOT, Graph, Node, further_numbers
from ci.create.groups import in_order, named
from ci.create.items import Item, Items
from ci.create.ranges import at_ends
from ci.create.scalars import Scalar, combined, number, supported
from ci.create.tensor_parts import Parts, range_sizes
from ci.create.tensors import Group, Tensor
from ci.create.twice import read_twice
from ci.model.errors import InputError

Guard = tuple[str, Scalar, Scalar]
"""A comparison of two numbers that the host knows."""

Place = tuple[str, int]
"""An axis of an input."""

KEPT = "?"
"""Stands for the name of what is in the workspace, which has none yet."""


@dataclass
class Layout:
    """What a golden function computes, in the words that programs are made of."""

    groups: tuple[Group, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    items: list[Item] = field(default_factory=list)
    stored: list[tuple[int, ...]] = field(default_factory=list)
    """For each of `targets` the item that it is; several take turns along its last axis."""
    targets: tuple[Tensor, ...] = ()
    """The outputs, or their parts where they are put together of such."""
    parts: tuple[Tensor, ...] = ()
    """Ranges of inputs that are loaded."""
    checks: tuple[tuple[str, Scalar], ...] = ()
    """Groups, and what else each must be as long as."""
    guards: tuple[Guard, ...] = ()
    """Comparisons by which the golden function chose what it computes."""
    equal: tuple[tuple[Place, Place], ...] = ()
    """Axes of inputs that are as long as an axis of another input."""
    single: tuple[Place, ...] = ()
    """Axes of inputs with one element, which meet longer ones."""
    indexed: tuple[Scalar, ...] = ()
    """Lengths of axes that are indexed by values."""
    products: tuple[tuple[Scalar, tuple[Scalar, ...]], ...] = ()
    """Axes of inputs that are cut into parts, and the lengths of these."""
    dims: tuple[tuple[Scalar, ...], ...] = ()
    """For each output the length of each of its axes."""
    kinds: tuple[str, ...] = ()
    """For each output the dtype that the golden function gave it."""
    rounds: bool = False
    """Whether the golden function itself computes in float32 or narrower: it casts to that."""
    ranks: dict[str, int] = field(default_factory=dict)
    """The number of axes of each input in the traced case."""

    def text(self) -> str:
        """Return the text as a person reads it; equal for cases that want the same program."""
        lines = [f"in  {t.name}[{', '.join(t.groups)}]" for t in self.inputs]
        for place, item in enumerate(self.items):
            given = ", ".join(f"%{a}" if isinstance(a, int) else str(a) for a in item.args)
            over = f" over {'*'.join(sorted(item.along))}" if item.along else ""
            lines.append(f"%{place}[{', '.join(sorted(item.groups))}] = {item.op}({given}){over}")
        lines += [f"{t.name} = {t.text}" for t in self.parts]
        lines += [
            f"out {t.text}[{', '.join(t.groups)}] = {', '.join(f'%{i}' for i in items)}"
            for t, items in zip(self.targets, self.stored, strict=True)
        ]
        return "\n".join(lines)


def layout_of(
    graph: Graph, inputs: Mapping[int, tuple[str, str]], outputs: Iterable[tuple[str, str]]
) -> Layout:
    """The layout of a graph whose inputs and outputs have these names and dtypes.

    Raises InputError with a sentence for what is not lowered.
    """
    guards = guards_of(graph, {n: name for n, (name, _) in inputs.items()})
    graph = read_twice(at_ends(graph))
    axes = axes_of_nodes(graph)
    needed = _needed(graph)
    inputs_first = sorted(needed, key=lambda i: graph.nodes[i].op != "input")
    leaves = in_order([leaves_of([a for axis in axes[i] for a in axis]) for i in inputs_first])
    ends = [i for i in needed if graph.nodes[i].op == "input" or i in graph.outputs]
    tensors = [leaves_of([a for axis in axes[i] for a in axis]) for i in ends]
    names = named(graph, axes, needed, leaves, tensors)
    made = _Maker(graph, axes, names, leaves, dict(inputs))
    found = made.layout(list(outputs))
    found.guards = guards
    return found


def guards_of(graph: Graph, names: Mapping[int, str]) -> tuple[Guard, ...]:
    """Comparisons of lengths, ranks and attributes that held while the function was traced."""
    if not graph.guards:
        return ()
    try:
        shaper = Shaper(graph, names)
    except InputError:  # said again, with where, when the graph itself is laid out
        return ()
    found = []
    for op, *pair in graph.guards:
        left, right = (shaper.length(one) for one in pair)
        if left is None or right is None:
            continue
        if left.constant is not None and right.constant is not None:
            continue
        low = right.constant is not None and right.constant <= 0
        if low and left.op == "attr" and "." in left.name and op in ("gt", "ge", "ne"):
            continue  # a length, and no tensor is empty
        found.append((op, left, right))
    return tuple(dict.fromkeys(found))


def _needed(graph: Graph) -> list[int]:
    """The nodes that outputs need, and inputs of which they need the lengths alone."""
    found = {i for i, node in enumerate(graph.nodes) if node.op == "input"}
    left = list(graph.outputs)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += graph.nodes[one].args if graph.nodes[one].op != "extent" else ()
    return sorted(found)


class _Maker(Items):
    def __init__(
        self,
        graph: Graph,
        axes: list[list[list[Atom]]],
        names: dict[Atom, str],
        leaves: list[Atom],
        inputs: dict[int, tuple[str, str]],
    ) -> None:
        super().__init__()
        self.graph, self.axes, self.names, self.leaves = graph, axes, names, leaves
        self.inputs = inputs
        self.found: dict[int, int | Scalar] = {}
        self.decisive = graph.decisive()
        self.equal: list[tuple[Place, Place]] = []
        self.single: list[Place] = []
        self.indexed: dict[Scalar, None] = {}
        self.products: list[tuple[Scalar, tuple[Scalar, ...]]] = []
        self.sizes = self._leaf_sizes()
        self.parts = Parts(graph, axes, names, self.sizes, self.checks)

    def layout(self, outputs: list[tuple[str, str]]) -> Layout:
        groups: dict[str, Group] = {}
        for leaf in self.leaves:
            before = groups.get(self.names[leaf])
            size = self.sizes[leaf]
            groups[self.names[leaf]] = Group(
                self.names[leaf],
                combined("mul", before.size, size) if before else size,
                before.example * leaf.size if before else leaf.size,
            )
        tensors, again = list[Tensor](), list[Tensor]()
        for i, node in enumerate(self.graph.nodes):
            if node.op == "input":
                name, dtype = self._read(node)
                known, _ = self.inputs[int(node.params["number"])]
                listed, of = (tensors, "") if name == known else (again, known)
                listed.append(Tensor(name, dtype, self._groups(i), of=of))
        made = Layout(tuple(groups.values()), tuple(tensors), ())
        whole = []
        stored = list[tuple[Tensor, tuple[int, ...]]]()
        for node_index, (name, dtype) in zip(self.graph.outputs, outputs, strict=True):
            tensor = Tensor(name, dtype, self._groups(node_index))
            whole.append(tensor)
            pieces: list[tuple[Tensor, tuple[int, ...]]] = [(tensor, (node_index,))]
            if self.graph.nodes[node_index].op == "concat":
                pieces = self.parts.stored(node_index, name, dtype)
            for part, nodes in pieces:
                wanted = frozenset(part.groups)
                stored.append((part, tuple(self._over(wanted, self._of(i)) for i in nodes)))
        made.outputs, made.targets = tuple(whole), tuple(t for t, _ in stored)
        made.equal, made.single = tuple(self.equal), tuple(self.single)
        made.products, made.indexed = tuple(self.products), tuple(self.indexed)
        made.parts, made.checks = (*again, *self.parts.all), self.checks
        made.groups += tuple(self.parts.starts)
        made.items, made.stored = self.items, [i for _, i in stored]
        made.kinds = tuple(self.graph.nodes[i].dtype for i in self.graph.outputs)
        made.rounds = any(
            node.op == "cast" and node.dtype in ("float32", "float16")
            for node in (self.graph.nodes[i] for i in self.graph.needed())
        )
        made.dims = tuple(self.dims(i) for i in self.graph.outputs)
        for node in self.graph.nodes:
            if node.op == "input":
                made.ranks[self.inputs[int(node.params["number"])][0]] = len(node.shape)
        return made

    def _read(self, node: Node) -> tuple[str, str]:
        """Name and dtype of an input, which has another name where it is read once more."""
        name, dtype = self.inputs[int(node.params["number"])]
        again = node.params.get("again")
        return f"{name}_again{again}" if again else name, dtype

    def _over(self, groups: frozenset[str], value: int | Scalar) -> int:
        """A value that is stored: a number for each element of these groups."""
        if isinstance(value, Scalar) or self.items[value].groups != groups:
            value = self.item("expand", (value,), groups=groups)
        if self.items[value].mask:
            value = self.item("where", (value, number(1), number(0)))
        return value

    def dims(self, node: int) -> tuple[Scalar, ...]:
        """The length of each axis of a node."""
        return tuple(self._dim(leaves_of(axis)) for axis in self.axes[node])

    def _dim(self, leaves: list[Atom]) -> Scalar:
        found = number(1)
        for leaf in leaves:
            found = combined("mul", found, self.sizes[leaf])
        return found

    def _groups(self, node: int) -> tuple[str, ...]:
        flat = [self.names[a] for a in leaves_of([a for axis in self.axes[node] for a in axis])]
        return tuple(dict.fromkeys(flat))

    def _leaf_sizes(self) -> dict[Atom, Scalar]:
        """How the host computes each leaf: a whole axis, a number of the golden, or the rest."""
        sizes: dict[Atom, Scalar] = {}
        owners: dict[Atom, Place] = {}
        cut: list[tuple[Scalar, list[Atom]]] = []
        for i, node in enumerate(self.graph.nodes):
            if node.op != "input":
                continue
            name = self.inputs[int(node.params["number"])][0]
            for place, axis in enumerate(self.axes[i]):
                dim = Scalar("attr", name=f"{name}.{place}")
                leaves = leaves_of(axis)
                if len(leaves) == 1:
                    if leaves[0] in owners:
                        self.equal.append(((name, place), owners[leaves[0]]))
                    owners.setdefault(leaves[0], (name, place))
                    sizes.setdefault(leaves[0], dim)
                elif node.shape[place] == 1:
                    self.single.append((name, place))
                elif leaves:
                    cut.append((dim, leaves))
        for i, node in enumerate(self.graph.nodes):
            if node.op in ("reshape", "broadcast"):
                given = node.params.get("sizes") or [None] * len(node.shape)
                for axis, symbol in zip(self.axes[i], given, strict=False):
                    leaves = leaves_of(axis)
                    if symbol is not None and len(leaves) == 1 and leaves[0] not in sizes:
                        value = self.length_of(int(symbol), sizes)
                        if value is not None:
                            sizes[leaves[0]] = value
        for dim, leaves in cut:
            unknown = [leaf for leaf in leaves if leaf not in sizes]
            for leaf in unknown[:-1]:
                sizes[leaf] = number(leaf.size)
            if unknown:
                size = dim
                for leaf in leaves:
                    if leaf is not unknown[-1]:
                        size = combined("div", size, sizes[leaf])
                sizes[unknown[-1]] = size
        for i, node in enumerate(self.graph.nodes):
            if node.op.startswith("window_"):
                self._window_sizes(i, node, sizes)
        checks = range_sizes(self.graph, self.axes, self.graph.needed(), sizes)
        checks += self._counted(sizes)
        checks += self._weighted()
        if any(leaf not in self.names for leaf, _ in checks):
            raise InputError("It takes ranges of ranges that may differ in length.")
        self.checks = tuple(dict.fromkeys((self.names[leaf], size) for leaf, size in checks))
        for leaf in self.leaves:
            sizes.setdefault(leaf, number(leaf.size))
        self.products = [(dim, tuple(sizes[leaf] for leaf in leaves)) for dim, leaves in cut]
        return sizes

    def _counted(self, sizes: Mapping[Atom, Scalar]) -> list[tuple[Atom, Scalar]]:
        """Axes along which is counted as far as another one is long, which they meet: n of a mask
        of n by n over scores of m by n."""
        checks = []
        for place in sorted(self.graph.needed()):
            node = self.graph.nodes[place]
            made = self.graph.nodes[node.args[0]] if node.op == "iota" else node
            given = made.params.get("sizes") if node.op == "iota" else None
            for axis, symbol in zip(self.axes[place], given or (), strict=False):
                leaves = leaves_of(axis)
                value = None if symbol is None else self.length_of(int(symbol), sizes)
                if value is not None and len(leaves) == 1 and sizes.get(leaves[0], value) != value:
                    checks.append((leaves[0], value))
        return checks

    def _weighted(self) -> list[tuple[Atom, Scalar]]:
        """The axes of weights along which windows lie, which are as long as these."""
        nodes = (self.graph.nodes[i] for i in self.graph.needed())
        dots = (node for node in nodes if node.op in DOTS)
        axes = [axis for node in dots for axis in self.axes[node.args[1]][3:]]
        return [(leaf, number(leaf.size)) for axis in axes for leaf in leaves_of(axis)]

    def length_of(self, index: int, sizes: Mapping[Atom, Scalar]) -> Scalar | None:
        """A number of the golden function in terms of attributes and of lengths that are known;
        None where it is made of one that is not."""
        node = self.graph.nodes[index]
        if node.op == "const":
            return number(float(node.params["value"]))
        if node.op == "attr":
            return Scalar("attr", name=str(node.params["name"]))
        if node.op == "rank":
            name, _ = self.inputs[int(self.graph.nodes[node.args[0]].params["number"])]
            return Scalar("rank", name=name)
        if node.op == "extent":
            found = number(1)
            source = self.graph.nodes[node.args[0]]
            for axis in node.axes():
                if source.op == "input":
                    name = self.inputs[int(source.params["number"])][0]
                    one = Scalar("attr", name=f"{name}.{axis}")
                    found = combined("mul", found, one)
                    continue
                for leaf in leaves_of(self.axes[node.args[0]][axis]):
                    if leaf not in sizes:
                        return None
                    found = combined("mul", found, sizes[leaf])
            return found
        args = [self.length_of(a, sizes) for a in node.args]
        known = [a for a in args if a is not None]
        if len(known) != len(args) or not supported(node.op):
            return None
        return combined(node.op, *known)

    def _window_sizes(self, index: int, node: Node, sizes: dict[Atom, Scalar]) -> None:
        numbers = [node.params[k] for k in ("size", "step", "pad")]
        numbers.append(node.params.get("apart", [1] * len(node.axes())))
        further = 1 if node.op in DOTS else 0
        for axis, size, step, pad, apart in zip(node.axes(), *numbers, strict=True):
            before = leaves_of(self.axes[node.args[0]][axis])
            after = leaves_of(self.axes[index][axis + further])
            if len(before) == len(after) == 1 and before[0] in sizes:
                seen = (size - 1) * apart + 1
                if node.op == UNDOT:
                    more = node.params["more"][node.axes().index(axis)]
                    steps = combined("mul", sizes[before[0]], number(step))
                    rest = number(seen - step - 2 * pad + more)
                    sizes[after[0]] = combined("add", steps, rest)
                    continue
                room = combined("add", sizes[before[0]], number(2 * pad - seen))
                steps = combined("floor", combined("div", room, number(step)))
                sizes[after[0]] = combined("add", steps, number(1))

    def _of(self, index: int) -> int | Scalar:
        if index not in self.found:
            self.found[index] = self._make(index, self.graph.nodes[index])
        return self.found[index]

    def _make(self, index: int, node: Node) -> int | Scalar:
        if node.op == "const":
            return number(float(node.params["value"]))
        if node.op == "attr":
            return Scalar("attr", name=str(node.params["name"]))
        if node.op == "rank":
            return number(float(len(self.graph.nodes[node.args[0]].shape)))
        if node.op == "extent":
            arg = self.axes[node.args[0]]
            leaves = leaves_of([a for axis in node.axes() for a in arg[axis]])
            known = self.length_of(index, self.sizes)
            if known is not None and any(leaf not in self.names for leaf in leaves):
                return known  # of a tensor that is not computed
            return self._extent(leaves)
        if node.op == "input":
            name, dtype = self._read(node)
            loaded = self.item(f"load {name}", (), frozenset(self._groups(index)))
            return self.item("ne", (loaded, number(0)), mask=True) if dtype == "bool" else loaded
        if node.op == "slice":
            part = self.parts.loaded(index, self.inputs)
            loaded = self.item(f"load {part.name}", (), frozenset(part.groups))
            is_bool = part.dtype == "bool"
            return self.item("ne", (loaded, number(0)), mask=True) if is_bool else loaded
        if node.op == GATHER:
            return self._gathered(index, node)
        args = tuple(self._of(a) for a in node.args)
        if node.op in ("reshape", "broadcast", "transpose"):
            return args[0]
        if node.op in ELEMENTWISE:
            if all(isinstance(a, Scalar) for a in args) and supported(node.op):
                return combined(node.op, *(a for a in args if isinstance(a, Scalar)))
            return Expander(self, index in self.decisive).elementwise(node, args, self.graph)
        if node.op.startswith("window_"):
            return self._window(index, node)
        arg = self.axes[node.args[0]]
        along = frozenset(
            self.names[x] for x in leaves_of([a for axis in node.axes() for a in arg[axis]])
        )
        if node.op == "iota":
            return self._counted_along(leaves_of([a for axis in node.axes() for a in arg[axis]]))
        value = Expander(self).numeric(args[0])
        if node.op.startswith("reduce_"):
            return self._reduced(node, value, along)
        if node.op.startswith("scan_"):
            reverse, before = bool(node.params.get("reverse")), bool(node.params.get("exclusive"))
            op = node.op + (" reverse" if reverse else "") + (" exclusive" if before else "")
            return self.item(op, (value,), along=along) if along else value
        raise InputError(f"'{node.op}' is not lowered.")

    def _counted_along(self, leaves: list[Atom]) -> int | Scalar:
        """0, 1, 2 … along an axis, which may consist of several groups."""
        found: int | Scalar = number(0)
        for name in dict.fromkeys(self.names[leaf] for leaf in leaves):
            last = max(place for place, leaf in enumerate(leaves) if self.names[leaf] == name)
            each, behind = self.item("iota", (), frozenset({name})), leaves[last + 1 :]
            if behind:
                each = self.item("mul", (each, self._dim(behind)))
            found = each if isinstance(found, Scalar) else self.item("add", (found, each))
        return found

    def _gathered(self, index: int, node: Node) -> int:
        """What an input, or a range of one, has at places along an axis."""
        source = node.args[0]
        while self.graph.nodes[source].op in ("cast", "copy"):
            source = self.graph.nodes[source].args[0]
        leaves = leaves_of(self.axes[node.args[0]][node.axes()[0]])
        along = list(dict.fromkeys(self.names[leaf] for leaf in leaves))
        places = Expander(self).numeric(self._of(node.args[1]))
        if len(along) != 1 or isinstance(places, Scalar):
            raise InputError(
                "It indexes an axis of one element, one that is cut into parts elsewhere, or by the"
                " same place all along; that is not lowered."
            )
        op = self.graph.nodes[source].op
        args: tuple[int, ...] = (places,)
        if op == "slice":
            part = self.parts.loaded(source, self.inputs)
            name, dtype = part.name, part.dtype
        elif op == "input":
            name, dtype = self._read(self.graph.nodes[source])
        else:
            name, dtype = KEPT, self.graph.nodes[source].dtype
            table = frozenset(self._groups(source))
            args = (places, self._over(table, Expander(self).numeric(self._of(source))))
        self.indexed[self._dim(leaves)] = None
        groups = frozenset(self._groups(index))
        taken = self.item(f"gather {along[0]} of {name}", args, groups)
        return self.item("ne", (taken, number(0)), mask=True) if dtype == "bool" else taken

    def _window(self, index: int, node: Node) -> int:
        words = ["size", "step", "pad", *further_numbers(node.op)]
        if len(node.params["size"]) > 3:
            raise InputError("It takes windows along more than three axes; that is not lowered.")
        if node.op in DOTS:
            ends = [*self.axes[node.args[0]][3:], *self.axes[index][4:]]
            if any(len(leaves_of(axis)) != 1 for axis in ends):
                raise InputError(
                    "Its windows see an axis of one element, or leave one place of it; that is not"
                    " lowered."
                )
        kind = node.op.removeprefix("window_")
        numbers = [",".join(map(str, node.params[k])) for k in words]
        inner = self.axes[node.args[0]][-len(node.params["size"]) :]
        names, args = [self._windowed(node.args[0], inner)], tuple[int, ...]()
        if not names[0]:
            names, args = [KEPT], (self._computed(node.args[0], inner),)
        if node.op in DOTS:
            names.append(self._windowed(node.args[1], self.axes[node.args[1]][3:]))
            if not names[1]:
                raise InputError("It multiplies windows by weights that it has computed.")
        op = f"window {kind} {' '.join(numbers)} of {' by '.join(names)}"
        return self.item(op, args, frozenset(self._groups(index)))

    def _windowed(self, source: int, inner: list[list[Atom]]) -> str:
        """The name of an input of numbers that a node is, which has these axes last; else ''."""
        while self.graph.nodes[source].op in ("cast", "copy", "reshape", "transpose"):
            source = self.graph.nodes[source].args[0]
        node = self.graph.nodes[source]
        if node.op != "input":
            return ""
        along = leaves_of([a for axis in inner for a in axis])
        own = leaves_of([a for axis in self.axes[source] for a in axis])
        if own[len(own) - len(along) :] != along:
            raise InputError("It takes windows along axes that are not the last ones of an input.")
        name, dtype = self._read(node)
        if dtype not in ("T", "float32"):
            raise InputError(f"It takes windows of '{name}', which is {dtype}; cast it first.")
        return name

    def _computed(self, source: int, inner: list[list[Atom]]) -> int:
        """The item that windows are of, which is kept in the workspace."""
        value = Expander(self).numeric(self._of(source))
        names = [self.names[leaf] for axis in inner for leaf in leaves_of(axis)]
        if isinstance(value, Scalar):
            raise InputError("It takes windows of what is the same everywhere.")
        own = [
            n
            for n in dict.fromkeys(self.names[x] for x in self.leaves)
            if n in self.items[value].groups
        ]
        if len(names) != len(inner) or own[-len(names) :] != names:
            raise InputError(
                "It takes windows of what it has computed, along other axes than the last."
            )
        return value

    def _reduced(self, node: Node, value: int | Scalar, along: frozenset[str]) -> int | Scalar:
        kind = node.op.removeprefix("reduce_")
        own = self.items[value].groups if isinstance(value, int) else frozenset()
        repeated = along - own  # a value that is the same all along
        if kind in ("sum", "prod") and repeated:
            count = self._extent([x for x in self.leaves if self.names[x] in repeated])
            op = "mul" if kind == "sum" else "pow"
            if isinstance(value, Scalar):
                return combined(op, value, count)
            if op == "pow":
                raise InputError("A product over an axis that its factors lack is not lowered.")
            value = self.item(op, (value, count))
        if isinstance(value, Scalar) or not along & own:
            return value
        rest = self.items[value].groups - along
        return self.item("fold " + kind, (value,), rest, along=along & own)

    def _extent(self, leaves: list[Atom]) -> Scalar:
        """How many elements there are along these leaves: in whole groups where that is so."""
        names = {self.names.get(leaf, "") for leaf in leaves}
        whole = [leaf for leaf in self.leaves if self.names[leaf] in names]
        if set(whole) == set(leaves):
            listed = "*".join(
                dict.fromkeys(self.names[leaf] for leaf in self.leaves if leaf in leaves)
            )
            return Scalar("extent", name=listed) if listed else number(1)
        found = number(1)
        for leaf in leaves:
            found = combined("mul", found, self.sizes[leaf])
        return found


class Shaper:
    """The shapes of a graph's tensors in terms of the shapes of its inputs."""

    def __init__(self, graph: Graph, inputs: Mapping[int, str]) -> None:
        axes = axes_of_nodes(graph)
        needed = sorted(graph.needed())
        leaves = [leaf for i in needed for leaf in leaves_of([a for axis in axes[i] for a in axis])]
        unique = list(dict.fromkeys(leaves))
        names = {leaf: str(place) for place, leaf in enumerate(unique)}
        told = {number_: (name, "") for number_, name in inputs.items()}
        self._maker = _Maker(graph, axes, names, unique, told)

    def shape(self, node: int) -> tuple[Scalar, ...]:
        """The length of each axis of a node."""
        return self._maker.dims(node)

    def length(self, node: int) -> Scalar | None:
        """A number of the golden function by attributes and lengths of inputs, if it is that."""
        return self._maker.length_of(node, self._maker.sizes)
