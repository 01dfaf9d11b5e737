"""Sorting in terms of comparisons, largest elements and sums.

A few elements from an end of the order are found one after the other: the best, then the best of
those behind it. All of it is found by counting how many elements come before each, which takes the
square of the length. What is no number comes last, as in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ci.create.graph import GATHER, SORT, Graph, Node
from ci.create.nodes import Nodes
from ci.model.amount import amount
from ci.model.errors import InputError

MOST_ROUNDS: Final = 16
"""Elements from an end of the order that are found one after the other; more are counted."""

MOST_COUNTED: Final = 512
"""Elements of a row that are sorted by counting: 14 vector instructions for 64 pairs of them, so
that a core takes 30 µs for such a row."""


@dataclass(frozen=True)
class _Order:
    """`value`, or the places where it is None, in the order of `key` along an axis."""

    key: int
    axis: int
    value: int | None
    backwards: bool = False


@dataclass
class _Rounds:
    """The elements of an order that are found so far, from one of its ends."""

    key: int
    waiting: int | None = None
    """The mask of those that are still to be found; None while it is all."""
    places: list[int] = field(default_factory=list)


def without_sorts(graph: Graph) -> Graph:
    """The same graph without sorting."""
    if not any(node.op == SORT for node in graph.nodes):
        return graph
    return _Sorter(graph).graph()


class _Sorter(Nodes):
    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.old = graph
        self.guards: dict[tuple[Any, int, int], None] = {}
        self._forms: list[int | _Order] = []
        self._rounds: dict[tuple[int, int, bool], _Rounds] = {}
        self._chosen: dict[int, list[int]] = {}
        """The places that are put together in a node."""
        self._ranked: dict[int, int] = {}
        """How many elements come before each of a key, by the node of the places in order."""

    def graph(self) -> Graph:
        """The whole of it."""
        needed = self.old.needed()
        for place, node in enumerate(self.old.nodes):
            self._forms.append(self._form(node) if place in needed or not node.args else -1)
        outputs = tuple(self._whole(self._forms[o]) for o in self.old.outputs)
        told = ((op, self._new(a), self._new(b)) for op, a, b in self.old.guards)
        guards = tuple(dict.fromkeys((*told, *self.guards)))
        return Graph(nodes=tuple(self.nodes), outputs=outputs, guards=guards)

    def _form(self, node: Node) -> int | _Order:
        given = [self._forms[a] for a in node.args]
        first = given[0] if given else None
        if node.op == SORT:
            (axis,) = node.axes()
            key, places = self._whole(first), node.params["places"]
            if places and isinstance(first, _Order) and first == _Order(first.key, axis, None):
                return self._ranked[key]
            return _Order(key, axis, None if places else key)
        if isinstance(first, _Order) and list(node.axes()) == [first.axis]:
            if node.op == "flip":
                return replace(first, backwards=not first.backwards)
            if node.op == "slice" and (few := self._range(first, node)) is not None:
                return few
        line = len(node.shape) == 1 and first is not None
        if node.op == GATHER and (line or node.params.get("each")):
            found = self._at_places(node, self._whole(first), given[1])
            if found is not None:
                return found
        if node.op == "extent" and isinstance(first, _Order):
            given = [first.key]
        params = dict(node.params)
        if params.get("sizes"):
            params["sizes"] = [None if s is None else self._new(s) for s in params["sizes"]]
        made = self.write(
            node.op, [self._whole(g) for g in given], node.shape, node.dtype, **params
        )
        if node.op == "cast" and self._whole(first) in self._chosen:
            self._chosen[made] = self._chosen[self._whole(first)]
        return made

    def _at_places(self, node: Node, table: int, index: int | _Order) -> int | _Order | None:
        """What lies at the places of an order."""
        (axis,) = node.axes()
        if isinstance(index, _Order):
            if index.value is None and index.axis == axis:
                return replace(index, value=table)
            return None
        places = self._chosen.get(index)
        if places is None or self.nodes[places[0]].shape[axis] != 1:
            return None
        return self._together([self._taken(table, p, axis) for p in places], axis)

    # Nodes of the new graph

    def _new(self, old: int) -> int:
        return self._whole(self._forms[old])

    def _number(self, value: float | str) -> int:
        return self.write("const", (), (), "float64", value=value)

    def _each(self, op: str, *args: int, dtype: str = "") -> int:
        """An operation element by element."""
        kind = dtype or ("bool" if op in ("lt", "gt", "eq", "ne", "and", "or") else "float64")
        shapes = [self.nodes[a].shape for a in args]
        rank = max(map(len, shapes))
        full = [(*(1,) * (rank - len(s)), *s) for s in shapes]
        return self.write(op, args, [max(sizes) for sizes in zip(*full, strict=True)], kind)

    def _folded(self, op: str, x: int, axis: int, dtype: str) -> int:
        shape = list(self.nodes[x].shape)
        shape[axis] = 1
        return self.write(f"reduce_{op}", (x,), shape, dtype, axes=[axis])

    def _counted(self, x: int, axis: int) -> int:
        """0, 1, 2 … along an axis of a node."""
        shape = [n if a == axis else 1 for a, n in enumerate(self.nodes[x].shape)]
        return self.write("iota", (x,), shape, "int64", axis=axis)

    def _length(self, x: int, axis: int) -> int:
        return self.write("extent", (x,), (), "float64", axes=[axis])

    def _reshaped(self, x: int, shape: Sequence[int]) -> int:
        sizes = [None] * len(shape)
        return self.write("reshape", (x,), shape, self.nodes[x].dtype, sizes=sizes)

    def _together(self, parts: Sequence[int], axis: int) -> int:
        first = self.nodes[parts[0]]
        shape = list(first.shape)
        shape[axis] = len(parts)
        if len(parts) == 1:
            return parts[0]
        return self.write("concat", parts, shape, first.dtype, axis=axis)

    def _taken(self, table: int, place: int, axis: int) -> int:
        """The element of each row at a place."""
        here = self._each("eq", self._counted(table, axis), place)
        dtype = self.nodes[table].dtype
        kept = self._each("where", here, table, self._number(0.0), dtype=dtype)
        return self._folded("sum", kept, axis, dtype)

    # A few from an end

    def _range(self, order: _Order, node: Node) -> int | None:
        """A few elements from an end of an order, one after the other; None for others."""
        start, stop, step = (int(node.params[k]) for k in ("start", "stop", "step"))
        size = self.nodes[order.key].shape[order.axis]
        told = [self._new(s) for s in node.params["sizes"]]
        from_end = [self._from_end(order, t) for t in told]
        if step != 1:
            return None
        if all(from_end):
            first, last, backwards = size - stop, size - start, not order.backwards
        elif not any(from_end):
            first, last, backwards = start, stop, order.backwards
            if not all(map(self._given, told)):
                return None
            for end, number in zip((start, stop), told, strict=True):
                if self.nodes[number].op != "const":
                    self.guards["eq", number, self._number(float(end))] = None
        else:
            return None
        if last > MOST_ROUNDS:
            return None
        length = self._length(order.key, order.axis)
        self.guards["ge", length, self._number(float(last))] = None
        places = self._first(order.key, order.axis, backwards, last)[first:]
        places = places[::-1] if backwards != order.backwards else places
        if order.value is None:
            found = self._together(places, order.axis)
            self._chosen[found] = places
            return found
        return self._together([self._taken(order.value, p, order.axis) for p in places], order.axis)

    def _given(self, number: int) -> bool:
        """Whether a number is of constants and attributes alone, not of lengths."""
        node = self.nodes[number]
        return node.op in ("const", "attr") or bool(node.args) and all(map(self._given, node.args))

    def _from_end(self, order: _Order, number: int) -> bool:
        """Whether a number is a constant distance from the length of what is sorted."""
        node = self.nodes[number]
        length = self._length(order.key, order.axis)
        if number == length:
            return True
        if node.op not in ("add", "sub"):
            return False
        both = [self.nodes[a] for a in node.args]
        return node.args[0] == length and both[1].op == "const"

    def _first(self, key: int, axis: int, backwards: bool, count: int) -> list[int]:
        """The places of the first elements of an order; backwards, of its last ones."""
        rounds = self._rounds.get((key, axis, backwards))
        fold, beyond = ("max", "lt") if backwards else ("min", "gt")
        worst = self._number("-inf" if backwards else "inf")
        if rounds is None:
            real = self._each("eq", key, key)
            rounds = _Rounds(self._each("where", real, key, self._number("inf"), dtype="float64"))
            self._rounds[key, axis, backwards] = rounds
        counted = self._counted(key, axis)
        nowhere = self._number(-1.0) if backwards else self._length(key, axis)
        while len(rounds.places) < count:
            left = rounds.key
            if rounds.waiting is not None:
                left = self._each("where", rounds.waiting, rounds.key, worst)
            best = self._folded(fold, left, axis, "float64")
            equal = self._each("eq", rounds.key, best)
            here = equal
            if rounds.waiting is not None:
                here = self._each("and", equal, rounds.waiting)
            at = self._each("where", here, counted, nowhere)
            place = self._folded(fold, at, axis, "int64")
            rounds.places.append(place)
            later = self._each("and", equal, self._each(beyond, counted, place))
            rounds.waiting = self._each("or", self._each(beyond, rounds.key, best), later)
        return rounds.places[:count]

    # All of it

    def _whole(self, form: int | _Order | None) -> int:
        """What a node becomes, sorted by counting where it is an order."""
        assert form is not None
        if not isinstance(form, _Order):
            return form
        key, axis = self.nodes[form.key], form.axis
        shape, size = key.shape, key.shape[axis]
        before, behind = shape[:axis], shape[axis + 1 :]
        rank = self._rank(form.key, axis)
        ones = (1,) * len(before), (1,) * len(behind)
        sizes = [self._length(form.key, axis)]
        line = self.write("broadcast", (self._number(0.0),), (size,), "int64", sizes=sizes)
        counted = self.write("iota", (line,), (size,), "int64", axis=0)
        wanted = self._reshaped(counted, (*ones[0], 1, size, *ones[1]))
        if form.backwards:
            last = self._each("sub", self._length(form.key, axis), self._number(1.0))
            wanted = self._each("sub", last, wanted)
        high = (*before, size, 1, *behind)
        dtype = "int64" if form.value is None else self.nodes[form.value].dtype
        if form.value is None:
            value = self._counted(self._reshaped(form.key, high), axis)
        else:
            value = self._reshaped(form.value, high)
        here = self._each("eq", rank, wanted)
        kept = self._each("where", here, value, self._number(0.0), dtype=dtype)
        found = self._reshaped(self._folded("sum", kept, axis, dtype), shape)
        if form.value is None and not form.backwards:
            self._ranked[found] = self._reshaped(rank, shape)
        return found

    def _rank(self, key: int, axis: int) -> int:
        """How many elements come before each of a key, along one axis more."""
        shape = self.nodes[key].shape
        before, size, behind = shape[:axis], shape[axis], shape[axis + 1 :]
        if size > MOST_COUNTED:
            raise InputError(
                f"It sorts {amount(size, 'element')} at a time, of which each is compared with"
                f" each, and the most are {MOST_COUNTED}. A few from an end, as in [..., :8], are"
                " taken of any number."
            )
        most = self._number(float(MOST_COUNTED))
        self.guards["le", self._length(key, axis), most] = None
        own = self._reshaped(key, (*before, size, 1, *behind))
        other = self._reshaped(key, (*before, 1, size, *behind))
        equal = self._each("eq", other, own)
        earlier = self._each("lt", self._counted(other, axis + 1), self._counted(own, axis))
        tie = self._each("and", equal, earlier)
        less = self._each("or", self._each("lt", other, own), tie)
        real = self._each("or", self._each("eq", other, other), earlier)
        none = self._each("and", self._each("ne", own, own), real)
        first = self._each("or", less, none)
        ones = self._each("where", first, self._number(1.0), self._number(0.0))
        return self._folded("sum", ones, axis + 1, "float64")
