"""The traced graph as data: what crosses from the sandbox, checked before anything reads it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field, model_validator

from ci.model.amount import amount
from ci.model.frozen import Frozen

UNARY = (
    *("neg", "abs", "exp", "log", "sqrt", "tanh", "square", "reciprocal", "sign", "floor", "ceil"),
    *("rint", "trunc", "log1p", "expm1", "exp2", "log2", "log10", "erf", "erfc", "sigmoid", "sin"),
    *("cos", "rsqrt", "copy", "sinh", "cosh", "not"),
)
BINARY = ("add", "sub", "mul", "div", "max", "min", "pow", "logaddexp")
ROUNDINGS = ("floor", "ceil", "rint", "trunc")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
LOGIC = ("and", "or")
ELEMENTWISE = frozenset((*UNARY, *BINARY, *COMPARISONS, *LOGIC, "where", "cast"))
REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod")
SCANS = ("scan_sum", "scan_prod", "scan_max", "scan_min")
WINDOWS = ("window_sum", "window_max")
DOT = "window_dot"
"""Products of windows of [N, G, C, …] with weights [G, O, C, …]: [N, G, O, C, …], whose sum over C
is still to be taken."""
UNDOT = "window_undot"
"""The same the other way round: each element of [N, G, C, …] by the weights, at every place of a
window that it is in (a transposed convolution)."""
DOTS = (DOT, UNDOT)
GATHER = "gather"
"""What lies in a tensor at the places along an axis that another one holds; below 0 they count from
the end. With `each`, every element of the other axes has places of its own."""
SORT = "sort"
"""A tensor in ascending order along an axis, equal elements as they came; or the places of that."""
LEAVES = ("input", "const", "attr", "extent", "rank")
SHAPES = ("reshape", "broadcast", "transpose", "flip", "slice", "concat", "iota")
_KNOWN = frozenset(
    (*LEAVES, *ELEMENTWISE, *REDUCTIONS, *SCANS, *WINDOWS, *DOTS, *SHAPES, GATHER, SORT)
)
_COUNT = {
    **dict.fromkeys((*UNARY, "cast", *REDUCTIONS, *SCANS, *WINDOWS, *SHAPES, SORT, "extent"), 1),
    **dict.fromkeys((*BINARY, *COMPARISONS, *LOGIC), 2),
    "where": 3,
    **dict.fromkeys((*DOTS, GATHER), 2),
    "rank": 1,
    "input": 0,
    "const": 0,
    "attr": 0,
}


Dtype: TypeAlias = Literal[
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


class Node(Frozen):
    """One operation: its arguments are before it in the graph."""

    op: str
    args: tuple[int, ...] = ()
    shape: tuple[int, ...] = Field(default=(), max_length=16)
    dtype: Dtype
    params: dict[str, Any] = Field(default_factory=dict)

    def axes(self) -> tuple[int, ...]:
        """The axes that it reduces or scans over; raises ValueError for what is none."""
        given = self.params.get("axes", [self.params.get("axis", 0)])
        if not isinstance(given, list | tuple) or not all(type(a) is int for a in given):
            raise ValueError(f"'{self.op}' has axes that are no whole numbers")
        return tuple(given)


def further_numbers(op: str) -> tuple[str, ...]:
    """What products of windows say behind size, step and padding: the distance of neighbours in a
    window, and how much longer the result is than what windows reach."""
    return {DOT: ("apart",), UNDOT: ("apart", "more")}.get(op, ())


def _sound(node: Node, number: int) -> bool:
    """Whether a node's parameters are what its operation takes: they end up in texts."""
    given = node.params
    whole = [given.get(k) for k in ("size", "step", "pad", *further_numbers(node.op))]
    match node.op:
        case "input":  # what is read once more is said by us alone, and gets into names
            return isinstance(given.get("number"), int) and set(given) == {"number"}
        case "const":
            value = given.get("value")
            return isinstance(value, float | int) or value in ("nan", "inf", "-inf")
        case "attr":
            return isinstance(given.get("name"), str) and given["name"].isidentifier()
        case "transpose":
            return sorted(given.get("order", ())) == list(range(len(node.shape)))
        case "reshape":
            sizes = given.get("sizes") or ()
            return all(s is None or (type(s) is int and 0 <= s < number) for s in sizes)
        case "sort":
            return type(given.get("places")) is bool and "axis" in given
        case "slice":
            start, stop, step = (given.get(k) for k in ("start", "stop", "step"))
            at = given.get("sizes")
            if not (type(start) is int and type(stop) is int and type(step) is int):
                return False
            told = isinstance(at, list) and all(type(s) is int and 0 <= s < number for s in at)
            return told and len(given["sizes"]) == 2 and 0 <= start < stop and step != 0
        case "window_sum" | "window_max" | "window_dot" | "window_undot":
            return all(
                isinstance(w, list)
                and len(w) == len(node.axes())
                and all(type(n) is int and 0 <= n < 1 << 20 for n in w)
                for w in whole
            )
    return True


def _fits(node: Node, given: list[tuple[int, ...]]) -> bool:
    """Whether what sorts, gathers or multiplies windows has arguments of the shapes it takes."""
    if node.op == SORT:
        return node.shape == given[0]
    if node.op == GATHER:
        (axis,), (x, index) = node.axes(), given
        if node.params.get("each"):
            rest = (*index[:axis], *x[axis : axis + 1], *index[axis + 1 :])
            return node.shape == index and rest == x
        return axis < len(x) and node.shape == (*x[:axis], *index, *x[axis + 1 :])
    if node.op not in DOTS:
        return True
    (samples, *_), (x, weights) = given[0][:1] or (0,), given
    inner = len(node.axes())
    same = len(x) == len(weights) == 3 + inner and len(node.shape) == 4 + inner
    return (
        same
        and node.axes() == tuple(range(3, 3 + inner))
        and (x[1], x[2]) == (weights[0], weights[2])
        and list(weights[3:]) == node.params["size"]
        and node.shape[:4] == (samples, x[1], weights[1], x[2])
    )


class Graph(Frozen):
    """What a golden function does to the inputs of one case."""

    nodes: tuple[Node, ...] = Field(max_length=4000)
    outputs: tuple[int, ...] = Field(min_length=1, max_length=64)
    guards: tuple[tuple[Literal["lt", "le", "gt", "ge", "eq", "ne"], int, int], ...] = Field(
        (), max_length=200, description="Comparisons of numbers that held: the trace is for those."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Graph:
        for number, node in enumerate(self.nodes):
            if node.op not in _KNOWN:
                raise ValueError(f"node {number} has the unknown operation '{node.op}'")
            if not all(0 <= a < number for a in node.args):
                raise ValueError(f"node {number} takes what is not before it")
            if node.op in _COUNT and node.op != "concat" and len(node.args) != _COUNT[node.op]:
                raise ValueError(
                    f"node {number} ({node.op}) has {amount(len(node.args), 'argument')}"
                )
            if not all(0 <= n < 1 << 40 for n in node.shape):
                raise ValueError(f"node {number} has an impossible shape")
            if node.op == "input" and not isinstance(node.params.get("number"), int):
                raise ValueError(f"node {number} is an input without a number")
            try:
                sound = _sound(node, number) and _fits(
                    node, [self.nodes[a].shape for a in node.args]
                )
            except (TypeError, IndexError, KeyError):  # made up by a hostile function
                sound = False
            if not sound:
                raise ValueError(f"node {number} ({node.op}) has parameters that are none")
            ranks = len(self.nodes[node.args[0]].shape) if node.args else len(node.shape)
            tells = "axes" in node.params or "axis" in node.params
            if tells and not all(0 <= a < ranks for a in node.axes()):
                raise ValueError(f"node {number} has an axis that its argument lacks")
        if not all(0 <= o < len(self.nodes) for o in self.outputs):
            raise ValueError("an output is no node")
        if not all(0 <= n < len(self.nodes) for _, a, b in self.guards for n in (a, b)):
            raise ValueError("a guard compares what is no node")
        return self

    def decisive(self) -> set[int]:
        """The nodes whose least bit may decide: their values are rounded or compared later."""
        found = set[int]()
        for place in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[place]
            whole = "int" in node.dtype and node.op == "cast"
            decides = whole or node.op in (*ROUNDINGS, *COMPARISONS, "sign")
            if node.op == GATHER:
                found.add(node.args[1])
            elif decides or (place in found and node.op in (*ELEMENTWISE, *SHAPES)):
                found |= {*node.args}
        return found

    def needed(self) -> set[int]:
        """The nodes that the outputs are computed from, by values or sizes."""
        found = set[int]()
        left = [*self.outputs, *(n for _, a, b in self.guards for n in (a, b))]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += self.nodes[one].args
                left += [s for s in self.nodes[one].params.get("sizes") or () if s is not None]
        return found


class DescribedInput(Frozen):
    """An input of a task that says itself what it is called with."""

    name: str = Field(pattern=r"^[A-Za-z]\w*$", max_length=60)
    shape: tuple[int, ...]
    dtype: Dtype
    range: tuple[float, float]


class Described(Frozen):
    """Such a task: its inputs, parameters of the module included, and numbers."""

    inputs: tuple[DescribedInput, ...] = Field(min_length=1, max_length=64)
    attributes: dict[str, float | int] = Field(default_factory=dict)
    reduced: bool = Field(description="Whether its sizes were halved.")


class Parameter(Frozen):
    """A parameter of a golden function."""

    name: str = Field(pattern=r"^[A-Za-z_]\w*$", max_length=60)
    default: float | int | str | bool | tuple[Any, ...] | None = None
    given: bool = Field(default=False, description="Whether it has a default.")
    many: bool = Field(default=False, description="Whether it takes any number of inputs.")
