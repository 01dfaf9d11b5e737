"""What a graph means by one operation: a sum without the element, what is read from its end; and
positions, which are made for each use of them."""

from __future__ import annotations

from typing import Any

from ci.create.graph import ELEMENTWISE, GATHER, Graph, Node
from ci.create.sorting import without_sorts
from ci.create.tracing.array import NEUTRAL
from ci.model.errors import InputError


def simplified(graph: Graph) -> Graph:
    """The graph without sorting, with `concat(0, scan(x[:-1]))` and `concat(0, scan(x)[:-1])` said
    as one scan, and with scans and places from the end in place of `flip`."""
    graph = without_sorts(graph)
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        found = _exclusive(nodes, node)
        if found is not None:
            nodes[place] = found
    return _positions_apart(_Backwards(graph.model_copy(update={"nodes": tuple(nodes)})).graph())


class _Backwards:
    """A graph in which inputs that are read from the end are indexed by places that count down."""

    def __init__(self, graph: Graph) -> None:
        self.old = graph
        self.nodes: list[Node] = []
        self.turns: dict[tuple[int, int], int] = {}
        """What is read from its end along an axis, by the node that reads it."""

    def graph(self) -> Graph:
        """The whole of it."""
        needed = self.old.needed()
        if not any(self.old.nodes[i].op == "flip" for i in needed):
            return self.old
        places: list[int] = []
        for place, node in enumerate(self.old.nodes):
            args = tuple(places[a] for a in node.args)
            params = dict(node.params)
            if params.get("sizes"):
                params["sizes"] = [None if s is None else places[s] for s in params["sizes"]]
            found = None
            if node.op == "flip" and place in needed:
                found = args[0]
                for axis in node.axes():
                    found = None if found is None else self._turned(found, axis)
            if found is None:
                found = self._add(node.model_copy(update={"args": args, "params": params}))
            places.append(found)
        outputs = tuple(places[o] for o in self.old.outputs)
        guards = tuple((op, places[a], places[b]) for op, a, b in self.old.guards)
        kept = {"nodes": tuple(self.nodes), "outputs": outputs, "guards": guards}
        return self.old.model_copy(update=kept)

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _number(self, value: float) -> int:
        return self._add(Node(op="const", dtype="float64", params={"value": value}))

    def _turned(self, place: int, axis: int) -> int | None:
        """An axis of a node from its end; None where the node is no input, nor computed element by
        element of such."""
        node = self.nodes[place]
        if node.op in ("input", "slice"):
            index = self._down(place, axis)
            params = {"axis": axis}
            made = {"args": (place, index), "op": GATHER, "params": params}
            found = self._add(node.model_copy(update=made))
            self.turns[found, axis] = place
            return found
        if node.op == "flip" and node.axes() == (axis,):
            return node.args[0]
        if (place, axis) in self.turns:
            return self.turns[place, axis]
        if node.op == "iota" or (node.op == "broadcast" and not self.nodes[node.args[0]].shape):
            if node.op == "broadcast" or axis not in node.axes():
                return place
            pair = (self._last(place, axis), place)
            return self._add(node.model_copy(update={"op": "sub", "args": pair, "params": {}}))
        if node.op.startswith("scan_") and node.axes() == (axis,):
            begins = self._turned(node.args[0], axis)
            if begins is None:
                return None
            params = {**node.params, "reverse": not node.params.get("reverse", False)}
            return self._add(node.model_copy(update={"args": (begins,), "params": params}))
        if node.op not in ELEMENTWISE:
            return None
        args = list[int]()
        for arg in node.args:
            along = axis - len(node.shape) + len(self.nodes[arg].shape)
            whole = along < 0 or self.nodes[arg].shape[along] == 1
            turned = arg if whole else self._turned(arg, along)
            if turned is None:
                return None
            args.append(turned)
        return self._add(node.model_copy(update={"args": tuple(args)}))

    def _last(self, place: int, axis: int) -> int:
        """The last place along an axis."""
        params = {"axes": [axis]}
        length = self._add(Node(op="extent", args=(place,), dtype="float64", params=params))
        return self._add(Node(op="sub", args=(length, self._number(1.0)), dtype="float64"))

    def _down(self, place: int, axis: int) -> int:
        """n - 1, n - 2 … 0 for an axis of n."""
        count = (self.nodes[place].shape[axis],)
        last = self._last(place, axis)
        params = {"sizes": [self.nodes[last].args[0]]}
        whole = Node(
            op="broadcast", args=(self._number(0.0),), shape=count, dtype="int64", params=params
        )
        base = self._add(whole)
        up = Node(op="iota", args=(base,), shape=count, dtype="int64", params={"axis": 0})
        args = (last, self._add(up))
        return self._add(Node(op="sub", args=args, shape=count, dtype="int64"))


MOST_NODES = 3000
"""Most nodes of a graph whose positions were made for each use."""


def _positions_apart(graph: Graph) -> Graph:
    """The graph with positions, and what is computed of them alone, made for each use: the same
    `arange(n)` counts rows in one place and columns in another."""
    free: list[bool] = []
    for node in graph.nodes:
        shaped = node.op == "iota" or bool(node.args) and node.op != "extent"
        known = node.op in ("const", "attr", "extent", "rank")
        free.append(known or shaped and all(free[a] for a in node.args))
    if not any(f and n.op == "iota" for f, n in zip(free, graph.nodes, strict=True)):
        return graph
    nodes: list[Node] = []
    places: list[int] = []

    def sizes(params: dict[str, Any]) -> dict[str, Any]:
        told = params.get("sizes")
        if not told:
            return params
        return {**params, "sizes": [None if s is None else places[s] for s in told]}

    def made(place: int) -> int:
        node = graph.nodes[place]
        if not (free[place] and node.shape):
            return places[place]
        args = tuple(made(a) for a in node.args)
        nodes.append(node.model_copy(update={"args": args, "params": sizes(node.params)}))
        if len(nodes) > MOST_NODES:
            raise InputError("It computes too much of positions; compute it once and keep it.")
        return len(nodes) - 1

    for place, node in enumerate(graph.nodes):
        if free[place] and node.shape and place not in graph.outputs:
            places.append(-1)  # made where it is used
            continue
        given = tuple(made(a) for a in node.args)
        nodes.append(node.model_copy(update={"args": given, "params": sizes(node.params)}))
        places.append(len(nodes) - 1)
    outputs = tuple(places[o] for o in graph.outputs)
    guards = tuple((op, places[a], places[b]) for op, a, b in graph.guards)
    kept = {"nodes": tuple(nodes), "outputs": outputs, "guards": guards}
    return graph.model_copy(update=kept)


def _exclusive(nodes: list[Node], node: Node) -> Node | None:
    """A scan of all but the last element behind its neutral element; or all but the last element of
    a scan."""
    if node.op != "concat" or len(node.args) != 2:
        return None
    zeros, second = (nodes[a] for a in node.args)
    axis = node.params["axis"]
    scan, cut = (nodes[second.args[0]], second) if second.op == "slice" else (second, second)
    if not scan.op.startswith("scan_") or list(scan.axes()) != [axis] or zeros.shape[axis] != 1:
        return None
    if cut is scan:
        cut = nodes[scan.args[0]]
    if _constant(nodes, node.args[0]) != NEUTRAL[scan.op.removeprefix("scan_")]:
        return None
    whole = cut.op == "slice" and cut.params["axis"] == axis and cut.params["start"] == 0
    if not whole or cut.params["step"] != 1 or cut.params["stop"] != node.shape[axis] - 1:
        return None
    return Node(
        op=scan.op,
        args=scan.args if cut is second else cut.args,
        shape=node.shape,
        dtype=scan.dtype,
        params={**scan.params, "exclusive": True},
    )


def _constant(nodes: list[Node], place: int) -> float | None:
    node = nodes[place]
    while node.op in ("broadcast", "reshape", "cast", "copy"):
        node = nodes[node.args[0]]
    return float(node.params["value"]) if node.op == "const" else None
