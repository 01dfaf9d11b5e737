"""Positions: arrays that depend on lengths and not on values, such as `np.arange(x.shape[-1])`.

numpy makes them without asking its protocols, so that the functions that take a length are replaced
while a golden function is loaded and traced. Where no length of an input is given they are numpy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ci.create.tracing.array import Traced, lift
from ci.create.tracing.symbols import Symbolic
from ci.create.tracing.tape import Tape, Untraceable


def filled(tape: Tape, shape: Any, value: float, dtype: Any) -> Traced:
    """One number over a shape whose lengths may be those of inputs."""
    given = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    sizes = [one.node if isinstance(one, Symbolic) else None for one in given]
    plain = tuple(int(n) for n in given)
    node = tape.write("broadcast", (tape.constant(value),), plain, dtype, sizes=sizes)
    return Traced(tape, node, plain, dtype)


def counted(tape: Tape, length: Any) -> Traced:
    """0, 1, 2 … of so many elements."""
    base = filled(tape, (length,), 0.0, "int64")
    node = tape.write("iota", (base.node,), base.sizes, "int64", axis=0)
    return Traced(tape, node, base.sizes, "int64")


def lower_triangle(x: Traced, k: Any = 0) -> Traced:
    """numpy.tril."""
    rows, cols = _places(x)
    return _kept(cols <= rows + k, x)


def upper_triangle(x: Traced, k: Any = 0) -> Traced:
    """numpy.triu."""
    rows, cols = _places(x)
    return _kept(cols >= rows + k, x)


def _places(x: Traced) -> tuple[Any, Any]:
    if len(x.sizes) < 2:
        raise Untraceable("It takes a triangle of a tensor with one axis.")
    rows, cols = counted(x.tape, x.shape[-2]), counted(x.tape, x.shape[-1])
    return rows[:, None], cols[None, :]


def _kept(mask: Any, x: Traced) -> Traced:
    known = x.tape.nodes[x.node]
    ones = known["op"] == "broadcast" and x.tape.nodes[known["args"][0]]["params"].get("value") == 1
    if ones and x.dtype == bool and len(x.sizes) == 2:
        found: Traced = mask
        return found
    kept: Any = np.where(mask, x, 0)
    return kept.astype(x.dtype)  # type: ignore[no-any-return]


def _arange(tape: Tape, *ends: Any, dtype: Any = None, **_: Any) -> Any:
    start, stop, step = {1: (0, *ends, 1), 2: (*ends, 1)}.get(len(ends), ends)
    if step == 0 or isinstance(step, float) or isinstance(stop, float):
        raise Untraceable("It counts in steps of a fraction; count whole numbers and multiply.")
    length = stop - start if start else stop
    if step != 1:
        length = -((start - stop) // step)
    if length <= 0:
        raise Untraceable("It counts over no elements.")
    found: Any = counted(tape, length)
    found = found if step == 1 else found * step
    found = found + start if start else found
    return found if dtype is None else found.astype(dtype)


def _eye(tape: Tape, n: Any, m: Any = None, k: int = 0, dtype: Any = float, **_: Any) -> Any:
    rows, cols = counted(tape, n), counted(tape, n if m is None else m)
    return (cols[None, :] == rows[:, None] + k).astype(dtype)


def _linspace(
    tape: Tape, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, **more: Any
) -> Any:
    steps = num - 1 if endpoint else num
    found = counted(tape, num).astype("float64") * ((stop - start) / steps) + start
    return found if more.get("dtype") is None else found.astype(more["dtype"])


def _tri(tape: Tape, n: Any, m: Any = None, k: int = 0, dtype: Any = float, **_: Any) -> Any:
    rows, cols = counted(tape, n), counted(tape, n if m is None else m)
    return (cols[None, :] <= rows[:, None] + k).astype(dtype)


def _of_value(value: float) -> Callable[..., Any]:
    def made(tape: Tape, shape: Any, dtype: Any = float, *_: Any, **__: Any) -> Traced:
        return filled(tape, shape, value, dtype)

    return made


def _full(tape: Tape, shape: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
    one = lift(tape, value)
    made = filled(tape, shape, 0.0, dtype or one.dtype)
    if tape.nodes[one.node]["op"] == "const":
        return filled(tape, shape, float(value), dtype or one.dtype)
    return (made + one).astype(dtype or one.dtype)


MADE: dict[str, Callable[..., Any]] = {
    "arange": _arange,
    "linspace": _linspace,
    "eye": _eye,
    "identity": _eye,
    "tri": _tri,
    "zeros": _of_value(0.0),
    "empty": _of_value(0.0),
    "ones": _of_value(1.0),
    "full": _full,
}
"""Functions of numpy that make an array of a length."""


def _symbols(values: Any) -> list[Symbolic]:
    found = []
    for one in values:
        if isinstance(one, Symbolic):
            found.append(one)
        elif isinstance(one, tuple | list):
            found += _symbols(one)
        elif isinstance(one, Traced):
            found.append(one)  # type: ignore[arg-type]
    return found


def install(module: Any = np) -> None:
    """Let numpy's makers of arrays take lengths that remember where they come from."""
    for name, make in MADE.items():
        setattr(module, name, _replaced(getattr(module, name), make))


def _replaced(original: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        known = _symbols([*args, *kwargs.values()])
        if not known:
            return original(*args, **kwargs)
        kwargs = {k: v for k, v in kwargs.items() if k not in ("order", "device", "like")}
        if "shape" in kwargs:
            args = (kwargs.pop("shape"), *args)
        return make(known[0].tape, *args, **kwargs)

    return made
