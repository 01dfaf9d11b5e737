"""numpy's functions that are a formula of the traced ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ci.create.tracing import definitions
from ci.create.tracing.array import Traced, axes_of, lifted, reduced, reshaped
from ci.create.tracing.definitions import Function
from ci.create.tracing.functions import argmax, argmin, full_like, mean, sum_, transpose, where
from ci.create.tracing.positions import counted, lower_triangle, upper_triangle
from ci.create.tracing.products import dot, einsum, kron, matmul, outer, tensordot
from ci.create.tracing.ranges import concatenate, flip
from ci.create.tracing.rearranged import (
    append,
    array_split,
    broadcast_arrays,
    column_stack,
    diff,
    each_at_least,
    gradient,
    meshgrid,
    pad,
    part_of,
    repeat,
    roll,
    rollaxis,
    rot90,
    split_along,
    stacked,
    take,
    tile,
)
from ci.create.tracing.tape import Untraceable

# arctan on [0, tan(π/8)]: the odd polynomial of the Cephes library for single precision.
_ARCTAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)


def arctan(x: Any) -> Any:
    """Return the arc tangent, to two units in the last place of float32."""
    size = np.abs(x)
    far, middle = size > math.tan(3 * math.pi / 8), size > math.tan(math.pi / 8)
    z = np.where(far, -1.0 / size, np.where(middle, (size - 1.0) / (size + 1.0), size))
    base = np.where(far, math.pi / 2, np.where(middle, math.pi / 4, 0.0))
    square = z * z
    found = square * _ARCTAN[0] + _ARCTAN[1]
    for term in _ARCTAN[2:]:
        found = found * square + term
    found = base + (found * square * z + z)
    return np.where(x < 0, -found, found)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of a point."""
    found = arctan(y / x)
    found = np.where(x < 0, found + np.where(y < 0, -math.pi, math.pi), found)
    return np.where(np.logical_and(x == 0, y == 0), 0.0, found)


def fmod(a: Any, b: Any) -> Any:
    """Return the rest that has the sign of the dividend."""
    return a - np.trunc(a / b) * b


UFUNCS: dict[str, Function] = {
    "arctan": arctan,
    "arctan2": arctan2,
    "arcsin": lambda x: arctan(x / np.sqrt((1.0 - x) * (1.0 + x))),
    "arccos": lambda x: 2.0 * arctan(np.sqrt((1.0 - x) / (1.0 + x))),
    "arcsinh": lambda x: np.sign(x) * np.log(np.abs(x) + np.sqrt(x * x + 1.0)),
    "arccosh": lambda x: np.log(x + np.sqrt((x - 1.0) * (x + 1.0))),
    "arctanh": lambda x: 0.5 * np.log((1.0 + x) / (1.0 - x)),
    "tan": lambda x: np.sin(x) / np.cos(x),
    "cbrt": lambda x: np.sign(x) * np.exp(np.log(np.abs(x)) * (1 / 3)),
    "hypot": lambda a, b: np.sqrt(a * a + b * b),
    "copysign": lambda a, b: np.where(b < 0, -np.abs(a), np.abs(a)),
    "heaviside": lambda x, h: np.where(x < 0, 0.0, np.where(x > 0, 1.0, np.where(x == 0, h, x))),
    "fmod": fmod,
    "divmod": lambda a, b: (np.floor_divide(a, b), np.remainder(a, b)),
    "modf": lambda x: (x - np.trunc(x), np.trunc(x)),
    "deg2rad": lambda x: x * (math.pi / 180),
    "radians": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "degrees": lambda x: x * (180 / math.pi),
    "isnan": lambda x: x != x,
    "isinf": lambda x: np.abs(x) == np.inf,
    "isfinite": lambda x: np.abs(x) < np.inf,
    "signbit": lambda x: x < 0,
    "logical_xor": lambda a, b: (a != 0) != (b != 0),
    "logaddexp2": lambda a, b: np.logaddexp(a * math.log(2), b * math.log(2)) / math.log(2),
    "ldexp": lambda x, n: x * np.exp2(n),
    "conjugate": lambda x: x,
    "matmul": matmul,
    "vecdot": lambda a, b: np.sum(a * b, axis=-1),
    "matvec": lambda a, b: np.sum(a * b[..., None, :], axis=-1),
    "vecmat": lambda a, b: np.sum(a[..., :, None] * b, axis=-2),
}
"""Ufuncs by name; arguments are traced arrays or numbers."""


def nan_to_num(
    x: Traced, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """numpy.nan_to_num."""
    most = float(np.finfo(x.dtype if x.dtype.kind == "f" else "float32").max)
    found = where(x != x, nan, x)
    found = where(x == np.inf, most if posinf is None else posinf, found)
    return where(x == -np.inf, -most if neginf is None else neginf, found).astype(x.dtype)


def _ignoring(kind: str, neutral: float) -> Function:
    def made(x: Traced, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
        return reduced(kind, where(x != x, neutral, x).astype(x.dtype), axis, keepdims)

    return made


def nanmean(x: Traced, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """numpy.nanmean."""
    total = _ignoring("sum", 0.0)(x, axis, keepdims)
    return total / reduced("sum", where(x != x, 0.0, 1.0), axis, keepdims)


def nanvar(x: Traced, axis: Any = None, keepdims: bool = False, ddof: int = 0, **_: Any) -> Any:
    """numpy.nanvar."""
    apart = where(x != x, 0.0, x - nanmean(x, axis, True))
    count = reduced("sum", where(x != x, 0.0, 1.0), axis, keepdims)
    return reduced("sum", apart * apart, axis, keepdims) / (count - ddof)


def average(x: Traced, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    """numpy.average."""
    if weights is None:
        return mean(x, axis, None, keepdims)
    if axis is not None and np.ndim(weights) == 1 and len(x.sizes) > 1:
        (along,) = axes_of(axis, len(x.sizes))
        weights = weights[(slice(None), *(None,) * (len(x.sizes) - 1 - along))]
    both = x * weights
    spread = weights + both * 0
    return sum_(both, axis, None, keepdims) / sum_(spread, axis, None, keepdims)


def cross(a: Traced, b: Traced, axis: int = -1, **_: Any) -> Any:
    """numpy.cross of vectors of three elements."""
    (along,) = axes_of(axis, len(a.sizes))
    if a.sizes[along] != 3 or b.sizes[along] != 3:
        raise Untraceable("It calls numpy.cross of vectors that have not three elements.")
    x, y = ([part_of(v, along, k, k + 1) for k in range(3)] for v in (a, b))
    turns = ((1, 2), (2, 0), (0, 1))
    return concatenate([x[i] * y[j] - x[j] * y[i] for i, j in turns], along)


def trapezoid(y: Traced, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """numpy.trapezoid."""
    (along,) = axes_of(axis, len(y.sizes))
    steps = dx if x is None else diff(x, axis=-1 if len(x.sizes) == 1 else along)
    middle = (part_of(y, along, 1, None) + part_of(y, along, None, -1)) / 2.0
    return sum_(middle * steps, along)


def diagonal(x: Traced, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """numpy.diagonal of a matrix."""
    if len(x.sizes) != 2 or (axis1 % 2, axis2 % 2) != (0, 1):
        raise Untraceable("It takes diagonals of many matrices; give one matrix, or numpy.einsum.")
    return diag(x, offset)


def diag(x: Traced, k: int = 0) -> Any:
    """numpy.diag: the diagonal of a matrix, or a matrix with that diagonal."""
    if k or len(x.sizes) not in (1, 2) or x.shape[0] != x.shape[-1]:
        raise Untraceable("It takes or makes a diagonal that is not that of a square matrix.")
    rows, cols = counted(x.tape, x.shape[0]), counted(x.tape, x.shape[-1])
    found: Any = where(cols[None, :] == rows[:, None], x, 0).astype(x.dtype)
    return found if len(x.sizes) == 1 else sum_(found, -1)


def trace(x: Traced, offset: int = 0, *_: Any, **__: Any) -> Any:
    """numpy.trace."""
    rows, cols = counted(x.tape, x.shape[0]), counted(x.tape, x.shape[1])
    if len(x.sizes) != 2:
        raise Untraceable("It calls numpy.trace of a tensor that has not two axes.")
    return sum_(where(cols[None, :] == rows[:, None] + offset, x, 0.0))


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    """numpy.select."""
    found = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = where(condition, choice, found)
    return found


def piecewise(x: Traced, conditions: Sequence[Any], functions: Sequence[Any], *more: Any) -> Any:
    """numpy.piecewise."""
    values = [f(x, *more) if callable(f) else f for f in functions]
    default = values.pop() if len(values) > len(conditions) else 0
    return select(conditions, values, default).astype(x.dtype)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """numpy.isclose."""
    a, b = lifted((a, b))
    near = np.logical_and(np.abs(a - b) <= atol + rtol * np.abs(b), np.abs(b) < np.inf)
    near = np.logical_or(near, a == b)
    return np.logical_or(near, np.logical_and(a != a, b != b)) if equal_nan else near


def polyval(p: Any, x: Any) -> Any:
    """numpy.polyval with coefficients that are numbers."""
    if isinstance(p, Traced):
        raise Untraceable("It calls numpy.polyval with coefficients in a tensor.")
    found: Any = x * 0
    for term in p:
        found = found * x + term
    return found


def vector_norm(
    x: Traced,
    axis: Any = None,
    keepdims: bool = False,
    ord: Any = 2,  # noqa: A002
) -> Any:
    """numpy.linalg.vector_norm."""
    if ord == 2:
        return np.sqrt(sum_(x * x, axis, None, keepdims))
    if ord == np.inf:
        return reduced("max", abs(x), axis, keepdims)
    return sum_(abs(x) ** ord, axis, None, keepdims) ** (1.0 / ord)


def nan_place(kind: str) -> Function:
    """numpy.nanargmax and numpy.nanargmin."""

    def made(x: Traced, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
        away = where(x != x, -np.inf if kind == "max" else np.inf, x)
        return (argmax if kind == "max" else argmin)(away, axis, keepdims)

    return made


FUNCTIONS: dict[str, Function] = {
    "tril": lower_triangle,
    "triu": upper_triangle,
    "empty_like": lambda x, dtype=None, **_: full_like(x, 0.0, dtype),
    "einsum": einsum,
    "dot": dot,
    "vdot": lambda a, b: sum_(reshaped(a, (-1,)) * reshaped(b, (-1,))),
    "inner": lambda a, b: dot(a, b) if len(b.sizes) == 1 else dot(a, transpose(b)),
    "outer": outer,
    "kron": kron,
    "tensordot": tensordot,
    "multi_dot": lambda values: _folded(matmul, values),
    "pad": pad,
    "roll": roll,
    "repeat": repeat,
    "tile": tile,
    "diff": diff,
    "ediff1d": lambda x, *_: diff(reshaped(x, (-1,))),
    "gradient": gradient,
    "nan_to_num": nan_to_num,
    "nansum": _ignoring("sum", 0.0),
    "nanprod": _ignoring("prod", 1.0),
    "nanmax": _ignoring("max", -math.inf),
    "nanmin": _ignoring("min", math.inf),
    "nanmean": nanmean,
    "nanvar": nanvar,
    "nanstd": lambda *a, **k: np.sqrt(nanvar(*a, **k)),
    "nanargmax": nan_place("max"),
    "nanargmin": nan_place("min"),
    "nancumsum": lambda x, axis=None, **_: np.cumsum(where(x != x, 0.0, x), axis=axis),
    "nancumprod": lambda x, axis=None, **_: np.cumprod(where(x != x, 1.0, x), axis=axis),
    "cumulative_sum": lambda x, axis=None, **_: np.cumsum(x, axis=axis),
    "cumulative_prod": lambda x, axis=None, **_: np.cumprod(x, axis=axis),
    "average": average,
    "ptp": lambda x, axis=None, keepdims=False, **_: (
        reduced("max", x, axis, keepdims) - reduced("min", x, axis, keepdims)
    ),
    "cross": cross,
    "trapezoid": trapezoid,
    "diagonal": diagonal,
    "diag": diag,
    "trace": trace,
    "select": select,
    "piecewise": piecewise,
    "isclose": isclose,
    "isneginf": lambda x, **_: x == -np.inf,
    "isposinf": lambda x, **_: x == np.inf,
    "isreal": lambda x: x * 0 == 0,
    "real": lambda x: x,
    "fix": lambda x, **_: np.trunc(x),
    "sinc": lambda x: where(x == 0, 1.0, np.sin(x * math.pi) / where(x == 0, 1.0, x * math.pi)),
    "hstack": stacked(1, 1),
    "vstack": stacked(0, 2),
    "dstack": stacked(2, 3),
    "column_stack": column_stack,
    "hsplit": split_along(1),
    "vsplit": split_along(0),
    "dsplit": split_along(2),
    "array_split": array_split,
    "unstack": lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)[k] for k in range(x.sizes[axis])),
    "take": take,
    "append": append,
    "fliplr": lambda x: flip(x, 1),
    "flipud": lambda x: flip(x, 0),
    "rot90": rot90,
    "rollaxis": rollaxis,
    "matrix_transpose": lambda x: np.swapaxes(x, -1, -2),
    "atleast_1d": each_at_least(1),
    "atleast_2d": each_at_least(2),
    "atleast_3d": each_at_least(3),
    "broadcast_arrays": broadcast_arrays,
    "meshgrid": meshgrid,
    "polyval": polyval,
    "astype": lambda x, dtype, **_: x.astype(dtype),
    "vector_norm": vector_norm,
    "matrix_norm": lambda x, keepdims=False, ord="fro": vector_norm(x, (-2, -1), keepdims),
    "iscomplexobj": lambda x: False,
    "isrealobj": lambda x: True,
    "common_type": lambda *v: np.result_type(*(one.dtype for one in v), np.float16).type,
    "can_cast": lambda x, to, **k: np.can_cast(x.dtype, to, **k),
}
definitions.FUNCTIONS |= FUNCTIONS
definitions.UFUNCS |= UFUNCS
definitions.METHODS |= {n: FUNCTIONS[n] for n in ("repeat", "take", "dot", "trace", "diagonal")}


def _folded(function: Function, values: Sequence[Any]) -> Any:
    found, *rest = values
    for one in rest:
        found = function(found, one)
    return found
