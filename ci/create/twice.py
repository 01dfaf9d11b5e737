"""Inputs that are read as two tensors of one memory: one axis of them meets another one, as in
`x @ x.T` and `x + x.T`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import count
from typing import Final

from ci.create.axes import axes_of_nodes, leaves_of
from ci.create.graph import Graph, Node
from ci.create.groups import MEETS_ITSELF
from ci.model.errors import InputError

MOST_TIMES: Final = 7
"""Further readings: a kernel has eight events for its loads. Each repeats what is computed until
they meet."""


def read_twice(graph: Graph) -> Graph:
    """The same graph in which no axis of a tensor meets another one of it.

    Raises InputError where further readings of inputs do not part them.
    """
    for number in range(1, MOST_TIMES + 2):
        place = _meeting(graph)
        if place is None:
            return graph
        if number > MOST_TIMES:
            break
        args = graph.nodes[place].args[::-1]
        tries = (_again(graph, place, a, every) for a in args for every in (True, False))
        found = [(one, len(one.nodes) - len(graph.nodes), _meeting(one)) for one in tries if one]
        parted = [(one, at) for one, more, at in found if at is None or at > place + more]
        if not parted:
            break
        graph = max(parted, key=lambda one: len(one[0].nodes) if one[1] is None else one[1])[0]
    raise InputError(MEETS_ITSELF)


def _meeting(graph: Graph) -> int | None:
    """The first node by which an axis of a tensor meets another one of it."""
    needed = graph.needed()
    if not _tangled(graph):
        return None
    joins = [i for i in sorted(needed) if len(graph.nodes[i].args) > 1]

    def met(place: int) -> bool:
        before = tuple(i for i in sorted(needed) if i <= place)
        prefix = {"nodes": graph.nodes[: place + 1], "outputs": before, "guards": ()}
        return _tangled(graph.model_copy(update=prefix))

    found = bisect_left(joins, True, key=met)
    return joins[found] if found < len(joins) else None


def _tangled(graph: Graph) -> bool:
    axes = axes_of_nodes(graph)
    flat = ([a for axis in axes[i] for a in leaves_of(axis)] for i in graph.needed())
    return any(len(set(leaves)) != len(leaves) for leaves in flat)


def _again(graph: Graph, place: int, arg: int, every: bool) -> Graph | None:
    """The graph in which an argument of a node, or of `every` node from there on, is computed of
    inputs that are read once more; None where it is computed of none."""
    mine: set[int] = set()
    for i in range(arg + 1):
        node = graph.nodes[i]
        if node.op == "input" or (node.op != "extent" and any(a in mine for a in node.args)):
            mine.add(i)
    way, left = set[int](), [arg]
    while left:
        one = left.pop()
        if one in mine and one not in way:
            way.add(one)
            left += graph.nodes[one].args
    if not way:
        return None
    fresh = count(1 + max(node.params.get("again", 0) for node in graph.nodes))
    copied = {old: place + n for n, old in enumerate(sorted(way))}
    moved = {i: i + len(copied) * (i >= place) for i in range(len(graph.nodes))}
    clones = []
    for old in copied:
        node = _renumbered(graph.nodes[old], moved | copied, moved)
        if node.op == "input":
            node = node.model_copy(update={"params": {**node.params, "again": next(fresh)}})
        clones.append(node)
    turned = {**moved, arg: copied[arg]}
    rest = [
        _renumbered(node, turned if every or not n else moved, moved)
        for n, node in enumerate(graph.nodes[place:])
    ]
    return graph.model_copy(
        update={
            "nodes": (*graph.nodes[:place], *clones, *rest),
            "outputs": tuple(moved[i] for i in graph.outputs),
            "guards": tuple((op, moved[a], moved[b]) for op, a, b in graph.guards),
        }
    )


def _renumbered(node: Node, args: Mapping[int, int], sizes: Mapping[int, int]) -> Node:
    """A node whose arguments have moved."""
    params = dict(node.params)
    if params.get("sizes"):
        params["sizes"] = [None if s is None else sizes[int(s)] for s in params["sizes"]]
    return node.model_copy(update={"args": tuple(args[a] for a in node.args), "params": params})
