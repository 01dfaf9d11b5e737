"""Patterns of a graph that mean one operation: a sum from the end, a sum without the element."""

from __future__ import annotations

from ci.create.graph import Graph, Node


def simplified(graph: Graph) -> Graph:
    """The graph with `flip(scan(flip(x)))` and `concat(0, scan(x[:-1]))` said as one scan."""
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        found = _reverse(nodes, node) or _exclusive(nodes, node)
        if found is not None:
            nodes[place] = found
    return graph.model_copy(update={"nodes": tuple(nodes)})


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
    if node.op != "concat" or len(node.args) != 2:
        return None
    zeros, scan = (nodes[a] for a in node.args)
    axis = node.params["axis"]
    if not scan.op.startswith("scan_") or list(scan.axes()) != [axis] or zeros.shape[axis] != 1:
        return None
    neutral = 0.0 if scan.op == "scan_sum" else 1.0
    if _constant(nodes, node.args[0]) != neutral:
        return None
    cut = nodes[scan.args[0]]
    whole = cut.op == "slice" and cut.params["axis"] == axis and cut.params["start"] == 0
    if not whole or cut.params["step"] != 1 or cut.params["stop"] != node.shape[axis] - 1:
        return None
    return Node(
        op=scan.op,
        args=cut.args,
        shape=node.shape,
        dtype=scan.dtype,
        params={**scan.params, "exclusive": True},
    )


def _constant(nodes: list[Node], place: int) -> float | None:
    node = nodes[place]
    while node.op in ("broadcast", "reshape", "cast", "copy"):
        node = nodes[node.args[0]]
    return float(node.params["value"]) if node.op == "const" else None
