"""An array that is traced: numpy's functions take it for an array and write to the tape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ci.create.tracing import definitions, refused
from ci.create.tracing.symbols import Symbolic, symbolic
from ci.create.tracing.tape import Tape, Untraceable

UNARY = {
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "square": "square",
    "reciprocal": "reciprocal",
    "sign": "sign",
    "floor": "floor",
    "ceil": "ceil",
    "rint": "rint",
    "trunc": "trunc",
    "log1p": "log1p",
    "expm1": "expm1",
    "exp2": "exp2",
    "log2": "log2",
    "log10": "log10",
    "erf": "erf",
    "expit": "sigmoid",
    "sin": "sin",
    "cos": "cos",
    "rsqrt": "rsqrt",
    "positive": "copy",
    "sinh": "sinh",
    "cosh": "cosh",
    "erfc": "erfc",
}
BINARY = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "maximum": "max",
    "minimum": "min",
    "fmax": "max",
    "fmin": "min",
    "power": "pow",
    "float_power": "pow",
    "logaddexp": "logaddexp",
}
COMPARISONS = {
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}
LOGIC = {
    "logical_and": "and",
    "bitwise_and": "and",
    "logical_or": "or",
    "bitwise_or": "or",
}
REDUCTIONS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod"}
FOLDED_BY = {kind: getattr(np, ufunc) for ufunc, kind in REDUCTIONS.items()}
"""What joins two numbers of each fold and scan."""
NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
"""What a fold or a scan begins with."""


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """An axis argument as sorted axes."""
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    found = sorted({int(a) + rank if int(a) < 0 else int(a) for a in given})
    if any(not 0 <= a < rank for a in found):
        raise Untraceable(f"It reduces over axis {axis} of a tensor with {rank} axes.")
    return tuple(found)


class Traced(NDArrayOperatorsMixin):
    """Stands for a numpy array of a known shape whose values are not there."""

    __array_priority__ = 1000

    def __init__(self, tape: Tape, node: int, shape: tuple[int, ...], dtype: Any) -> None:
        self.tape, self.node = tape, node
        self.sizes = tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self.laced: tuple[int, int, int, tuple[Traced, ...]] | None = None
        """What was assigned to it in steps: node, axis, step, and the lines that take turns."""

    # What it is

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its sizes, which remember that they are its sizes."""
        return tuple(self._size((axis,), n) for axis, n in enumerate(self.sizes))

    @property
    def size(self) -> Any:
        """The number of its elements."""
        return self._size(tuple(range(len(self.sizes))), int(np.prod(self.sizes)))

    @property
    def ndim(self) -> Any:
        """The number of its axes; that of an input remembers it, as the cases may differ in it."""
        if self.tape.nodes[self.node]["op"] != "input":
            return len(self.sizes)
        node = self.tape.write("rank", (self.node,), dtype="int64")
        return symbolic(self.tape, node, len(self.sizes))

    @property
    def T(self) -> Any:  # noqa: N802
        """Its axes in reverse order."""
        return self.transpose()

    def _size(self, axes: tuple[int, ...], value: int) -> Any:
        node = self.tape.write("extent", (self.node,), axes=list(axes))
        return symbolic(self.tape, node, value)

    def __len__(self) -> int:
        return self.sizes[0]

    def __repr__(self) -> str:
        return f"<traced {self.dtype} {list(self.sizes)}>"

    def _no(self, what: str) -> Any:
        raise Untraceable(f"It {what}, and while it is traced there are no values.")

    def __bool__(self) -> bool:
        return bool(self._no("decides by a value of a tensor"))

    def __float__(self) -> float:
        return float(self._no("takes a value of a tensor as a number"))

    def __int__(self) -> int:
        return int(self._no("takes a value of a tensor as a number"))

    def __iter__(self) -> Any:
        self._no("goes through a tensor element by element")

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._no("turns a tensor into a plain array")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Traced) and key.dtype == bool and key.sizes == self.sizes:
            found: Any = np.where(key, value, self)
        else:
            found = definitions.METHODS["__setitem__"](self, key, value)
        self.node = found.astype(self.dtype).node

    # numpy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        options = {k: v for k, v in options.items() if v is not None and k != "casting"}
        out = options.pop("out", None)
        if out is not None and (len(out) != 1 or not isinstance(out[0], Traced)):
            raise Untraceable("It writes into an array that is no tensor (out=).")
        dtype = options.pop("dtype", None)
        if method == "reduce" and name in REDUCTIONS:
            return reduced(REDUCTIONS[name], inputs[0], **options)
        if method == "accumulate" and name in REDUCTIONS:
            axis = options.pop("axis", inputs[1] if len(inputs) > 1 else 0)
            return scanned(REDUCTIONS[name], inputs[0], axis)
        if method == "at" and name in REDUCTIONS:
            return definitions.METHODS["ufunc.at"](REDUCTIONS[name], *inputs)
        if method != "__call__" or (options and set(options) != {"where"}):
            why = f"which {refused.ORDER}" if method == "accumulate" else "which is not traced."
            raise Untraceable(f"It calls numpy.{name}.{method}, {why}")
        found = elementwise(self.tape, name, inputs)
        if out is not None:
            return _written(out[0], found)
        return found if dtype is None else found.astype(dtype)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = definitions.FUNCTIONS.get(func.__name__)
        if known is None:
            raise Untraceable(refused.said(func.__name__))
        try:
            return known(*args, **kwargs)
        except TypeError as problem:
            named = ", ".join(kwargs) or "these arguments"
            raise Untraceable(
                f"It calls numpy.{func.__name__} with {named}, which is not traced ({problem})."
            ) from None

    # Methods of arrays

    def __getattr__(self, name: str) -> Any:
        if (function := definitions.METHODS.get(name)) is not None:
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        if name.startswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"It uses .{name} of an array, which is not traced.")

    def __getitem__(self, key: Any) -> Any:
        return definitions.METHODS["__getitem__"](self, key)


def _written(target: Traced, found: Traced) -> Traced:
    """What `out=` or `+=` leaves in an array."""
    if target.sizes != found.sizes:
        raise Untraceable(
            f"It writes {list(found.sizes)} elements into a tensor of {list(target.sizes)}."
        )
    target.node = found.astype(target.dtype).node
    return target


def lifted(values: Iterable[Any]) -> list[Traced]:
    """All `values` as something traced, on the tape of the one that is."""
    given = list(values)
    tape = next(v for v in given if isinstance(v, Traced)).tape
    return [lift(tape, v) for v in given]


def lift(tape: Tape, value: Any) -> Traced:
    """`value` as something traced: a number or an array of one number becomes a constant."""
    if isinstance(value, Traced):
        return value
    if isinstance(value, Symbolic):
        kind = "int64" if isinstance(value, int) else "float64"
        return Traced(tape, value.node, (), kind)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Untraceable(f"It computes with {type(value).__name__}, which is not traced.")
    if array.size and (array == array.reshape(-1)[0]).all() or array.size == 1:
        node = tape.constant(float(array.reshape(-1)[0]))
        made = Traced(tape, node, (), array.dtype)
        return made if array.ndim == 0 else broadcast(made, array.shape)
    raise Untraceable(
        f"It holds an array of {array.size} constants; make it an input of the function."
    )


def broadcast(x: Traced, shape: tuple[int, ...]) -> Traced:
    """`x` over `shape`."""
    if x.sizes == tuple(shape):
        return x
    node = x.tape.write("broadcast", (x.node,), shape, x.dtype)
    return Traced(x.tape, node, shape, x.dtype)


def elementwise(tape: Tape, name: str, inputs: tuple[Any, ...]) -> Traced:
    """A ufunc's call."""
    values = [lift(tape, one) for one in inputs]
    if name in definitions.UFUNCS:
        return definitions.UFUNCS[name](*values)  # type: ignore[no-any-return]
    shape = np.broadcast_shapes(*(v.sizes for v in values))
    if name == "logical_not" or name == "invert":
        node = tape.write("not", (values[0].node,), shape, "bool")
        return Traced(tape, node, shape, "bool")
    if name in ("floor_divide", "remainder"):
        a, b = values
        kind = _result_dtype(name, inputs, values)
        quotient: Traced = np.floor(a / b).astype(kind)
        rest: Traced = a - quotient * b
        return quotient if name == "floor_divide" else rest
    for table, fixed in ((UNARY, ""), (BINARY, ""), (COMPARISONS, "bool"), (LOGIC, "bool")):
        if name in table and len(values) == (1 if table is UNARY else 2):
            dtype = fixed or _result_dtype(name, inputs, values)
            node = tape.write(table[name], tuple(v.node for v in values), shape, dtype)
            return Traced(tape, node, shape, dtype)
    raise Untraceable(refused.said(name))


def _result_dtype(name: str, inputs: tuple[Any, ...], values: list[Traced]) -> Any:
    plain = [
        v.dtype if isinstance(one, Traced) or np.ndim(one) else one
        for one, v in zip(inputs, values, strict=True)
    ]
    found = np.result_type(*(_plain_number(p) for p in plain))
    whole = name in ("divide", "true_divide") or name in UNARY and name not in _KEEP
    return np.dtype("float64") if whole and found.kind in "biu" else found


def _plain_number(value: Any) -> Any:
    """A number as numpy takes one: it gives way to the dtype of an array."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return int(value) if isinstance(value, int) else float(value)


_KEEP = ("negative", "absolute", "square", "sign", "floor", "ceil", "rint", "trunc", "positive")


def reduced(
    op: str, x: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, **rest: Any
) -> Traced:
    """A reduction over axes."""
    if rest or (initial is not None and op != "sum") or (initial not in (None, 0)):
        raise Untraceable(f"It reduces with {', '.join(rest) or 'initial'}=, which is not traced.")
    axes = axes_of(axis, len(x.sizes))
    full = tuple(1 if a in axes else n for a, n in enumerate(x.sizes))
    kept = tuple(n for a, n in enumerate(x.sizes) if a not in axes)
    dtype = np.dtype("int64") if op in ("sum", "prod") and x.dtype.kind in "biu" else x.dtype
    node = x.tape.write("reduce_" + op, (x.node,), full, dtype, axes=list(axes))
    found = Traced(x.tape, node, full, dtype)
    return found if keepdims else reshaped(found, kept)


def scanned(op: str, x: Traced, axis: int) -> Traced:
    """A running sum or product along an axis."""
    (along,) = axes_of(axis, len(x.sizes))
    node = x.tape.write("scan_" + op, (x.node,), x.sizes, x.dtype, axis=along)
    return Traced(x.tape, node, x.sizes, x.dtype)


def reshaped(x: Traced, shape: tuple[Any, ...]) -> Traced:
    """`x` in another shape."""
    wanted = [int(n) for n in shape]
    if -1 in wanted:
        rest = int(np.prod([n for n in wanted if n != -1]))
        wanted[wanted.index(-1)] = int(np.prod(x.sizes)) // max(rest, 1)
    if int(np.prod(wanted)) != int(np.prod(x.sizes)):
        raise Untraceable(f"It reshapes {list(x.sizes)} to {wanted}.")
    if tuple(wanted) == x.sizes:
        return x
    sizes = [one.node if isinstance(one, Symbolic) else None for one in shape]
    node = x.tape.write("reshape", (x.node,), tuple(wanted), x.dtype, sizes=sizes)
    return Traced(x.tape, node, tuple(wanted), x.dtype)
