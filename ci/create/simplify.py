"""Patterns of a graph that mean one operation: a sum from the end, a sum without the element; and
positions, which are made for each use of them."""

from __future__ import annotations

from typing import Any

from ci.create.graph import NEUTRAL, Graph, Node
from ci.model.errors import InputError


def simplified(graph: Graph) -> Graph:
    """The graph with `flip(scan(flip(x)))`, `concat(0, scan(x[:-1]))` and `concat(0, scan(x)[:-1])`
    said as one scan."""
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        found = _reverse(nodes, node) or _exclusive(nodes, node)
        if found is not None:
            nodes[place] = found
    return _positions_apart(graph.model_copy(update={"nodes": tuple(nodes)}))


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


def _reverse(nodes: list[Node], node: Node) -> Node | None:
    if node.op != "flip":
        return None
    scan = nodes[node.args[0]]
    if not scan.op.startswith("scan_") or list(scan.axes()) != node.params["axes"]:
        return None
    flipped = nodes[scan.args[0]]
    if flipped.op != "flip" or flipped.params["axes"] != node.params["axes"]:
        return None
    params = {**scan.params, "reverse": not scan.params.get("reverse", False)}
    return scan.model_copy(update={"args": flipped.args, "params": params})


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
