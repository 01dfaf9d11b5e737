"""Nodes of a graph that is made of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ci.create.graph import Node


class Nodes:
    """All that are written, one of a kind; each has a place."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[str, int] = {}

    def write(
        self, op: str, args: Sequence[int], shape: Sequence[int], dtype: str, **params: Any
    ) -> int:
        """The place of a node; raises ValidationError for what is none."""
        node = Node.model_validate(
            {"op": op, "args": args, "shape": shape, "dtype": dtype, "params": params}
        )
        key = node.model_dump_json()
        if key not in self._known:
            self.nodes.append(node)
            self._known[key] = len(self.nodes) - 1
        return self._known[key]
