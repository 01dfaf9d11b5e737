"""The tape that a traced function writes: one node an operation, in the order they happen."""

from __future__ import annotations

from typing import Any

import numpy as np


class Untraceable(Exception):
    """The function does what cannot be traced; the text is a sentence."""


class Tape:
    """Nodes as plain data; a node is named by its place."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self._known: dict[str, int] = {}
        self.guards: dict[tuple[str, int, int], None] = {}
        """Comparisons of lengths, ranks and attributes that held: operation and both nodes."""
        self.padded: dict[int, tuple[Any, tuple[tuple[int, int], ...], float]] = {}
        """What lies inside of a node that numpy.pad made, how much is around it, and the number."""

    def write(
        self,
        op: str,
        args: tuple[int, ...] = (),
        shape: tuple[int, ...] = (),
        dtype: Any = "float64",
        **params: Any,
    ) -> int:
        """Append a node, or find the equal one that is there; returns its place."""
        node = {
            "op": op,
            "args": list(args),
            "shape": [int(n) for n in shape],
            "dtype": np.dtype(dtype).name,
            "params": params,
        }
        key = repr(node)
        if key not in self._known:
            if len(self.nodes) >= MOST_NODES:
                raise Untraceable(f"It takes more than {MOST_NODES} operations.")
            self.nodes.append(node)
            self._known[key] = len(self.nodes) - 1
        return self._known[key]

    def constant(self, value: float) -> int:
        """The node of a number."""
        if value != value:
            return self.write("const", value="nan")
        if value in (float("inf"), float("-inf")):
            return self.write("const", value="inf" if value > 0 else "-inf")
        return self.write("const", value=float(value))


MOST_NODES = 2000
"""Most nodes of one trace; a loop over elements in Python would write millions."""
