"""numpy's functions and methods on traced arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing import definitions
from ci.create.tracing.array import (
    Traced,
    axes_of,
    broadcast,
    lift,
    lifted,
    reduced,
    reshaped,
    scanned,
)
from ci.create.tracing.definitions import Function
from ci.create.tracing.ranges import concatenate, flip, gathered, split, stack
from ci.create.tracing.symbols import Symbolic
from ci.create.tracing.tape import Untraceable


def _traced(*values: Any) -> Traced:
    return next(v for v in values if isinstance(v, Traced))


def sum_(x: Traced, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """numpy.sum."""
    return reduced("sum", x if dtype is None else astype(x, dtype), axis, keepdims)


def mean(x: Traced, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """numpy.mean: the sum over the number of elements."""
    axes = axes_of(axis, len(x.sizes))
    count = int(np.prod([x.sizes[a] for a in axes]))
    kind = dtype or (x.dtype if x.dtype.kind == "f" else "float64")
    found = reduced("sum", x.astype(kind), axis, keepdims) / x._size(axes, count)
    return found.astype(kind)


def var(
    x: Traced, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False
) -> Any:
    """numpy.var, in two passes as numpy does it."""
    axes = axes_of(axis, len(x.sizes))
    count = x._size(axes, int(np.prod([x.sizes[a] for a in axes])))
    centred = x - mean(x, axis, dtype, True)
    return reduced("sum", centred * centred, axis, keepdims) / (count - ddof if ddof else count)


def std(
    x: Traced, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False
) -> Any:
    """numpy.std."""
    return np.sqrt(var(x, axis, dtype, ddof, keepdims))


def max_(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.max."""
    return reduced("max", x, axis, keepdims)


def min_(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.min."""
    return reduced("min", x, axis, keepdims)


def prod(x: Traced, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """numpy.prod."""
    return reduced("prod", x if dtype is None else astype(x, dtype), axis, keepdims)


def argmax(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.argmax: the first of the places where the largest element stands."""
    return _place_of("max", x, axis, keepdims)


def argmin(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.argmin."""
    return _place_of("min", x, axis, keepdims)


def _place_of(kind: str, x: Traced, axis: Any, keepdims: bool) -> Any:
    flat = reshaped(x, (-1,)) if axis is None else x
    (along,) = axes_of(0 if axis is None else axis, len(flat.sizes))
    place = places_along(flat, along)
    here = np.logical_or(flat == reduced(kind, flat, along, True), flat != flat)  # or no number
    found = where(here, place, flat.shape[along])
    return astype(reduced("min", found, along, keepdims), "int64")


def places_along(x: Traced, axis: int) -> Traced:
    """0, 1, 2 … along an axis."""
    shape = tuple(n if a == axis else 1 for a, n in enumerate(x.sizes))
    node = x.tape.write("iota", (x.node,), shape, "int64", axis=axis)
    return Traced(x.tape, node, shape, "int64")


def any_(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.any."""
    return reduced("max", where(x, 1.0, 0.0), axis, keepdims) > 0


def all_(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.all."""
    return reduced("min", where(x, 1.0, 0.0), axis, keepdims) > 0


def count_nonzero(x: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.count_nonzero."""
    return astype(reduced("sum", where(x, 1.0, 0.0), axis, keepdims), "int64")


def cumsum(x: Traced, axis: Any = None, dtype: Any = None) -> Any:
    """numpy.cumsum."""
    x = x if dtype is None else astype(x, dtype)
    return scanned("sum", reshaped(x, (-1,)) if axis is None else x, axis or 0)


def cumprod(x: Traced, axis: Any = None, dtype: Any = None) -> Any:
    """numpy.cumprod."""
    x = x if dtype is None else astype(x, dtype)
    return scanned("prod", reshaped(x, (-1,)) if axis is None else x, axis or 0)


def astype(x: Traced, dtype: Any, **_: Any) -> Traced:
    """ndarray.astype; among floating-point dtypes it only says what the result is stored as."""
    kind = np.dtype(dtype)
    if kind == x.dtype:
        return x
    node = x.tape.write("cast", (x.node,), x.sizes, kind)
    return Traced(x.tape, node, x.sizes, kind)


def where(condition: Any, a: Any = None, b: Any = None) -> Traced:
    """numpy.where with three arguments."""
    if a is None or b is None:
        raise Untraceable("It calls numpy.where with one argument, whose result depends on values.")
    values = lifted((condition, a, b))
    shape = np.broadcast_shapes(*(v.sizes for v in values))
    dtype = np.result_type(
        *(v.dtype if isinstance(g, Traced) else g for g, v in zip((a, b), values[1:], strict=True))
    )
    tape = values[0].tape
    node = tape.write("where", tuple(v.node for v in values), shape, dtype)
    return Traced(tape, node, shape, dtype)


def clip(x: Any, a_min: Any = None, a_max: Any = None, **named: Any) -> Any:
    """numpy.clip."""
    low, high = named.get("min", a_min), named.get("max", a_max)
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def full_like(x: Traced, value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """numpy.full_like."""
    one, whole = lift(x.tape, value), x.shape if shape is None else tuple(shape)
    plain = tuple(int(n) for n in whole)
    sizes = [n.node if isinstance(n, Symbolic) else None for n in whole]
    node = x.tape.write("broadcast", (one.node,), plain, one.dtype, sizes=sizes)
    return astype(Traced(x.tape, node, plain, one.dtype), dtype or x.dtype)


def reshape(x: Traced, *shape: Any, **_: Any) -> Traced:
    """numpy.reshape."""
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return reshaped(x, tuple(given))


def expand_dims(x: Traced, axis: Any) -> Traced:
    """numpy.expand_dims."""
    given = axis if isinstance(axis, tuple | list) else (axis,)
    rank = len(x.sizes) + len(given)
    places = axes_of(tuple(given), rank)
    rest = iter(x.sizes)
    return reshaped(x, tuple(1 if a in places else next(rest) for a in range(rank)))


def squeeze(x: Traced, axis: Any = None) -> Traced:
    """numpy.squeeze."""
    gone = (
        [a for a, n in enumerate(x.sizes) if n == 1]
        if axis is None
        else axes_of(axis, len(x.sizes))
    )
    return reshaped(x, tuple(n for a, n in enumerate(x.sizes) if a not in gone))


def transpose(x: Traced, *axes: Any) -> Traced:
    """numpy.transpose."""
    given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    order = [int(a) % len(x.sizes) for a in given if a is not None] or list(range(len(x.sizes)))[
        ::-1
    ]
    if order == list(range(len(x.sizes))):
        return x
    shape = tuple(x.sizes[a] for a in order)
    return Traced(
        x.tape, x.tape.write("transpose", (x.node,), shape, x.dtype, order=order), shape, x.dtype
    )


def swapaxes(x: Traced, a: int, b: int) -> Traced:
    """numpy.swapaxes."""
    order = list(range(len(x.sizes)))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def moveaxis(x: Traced, source: Any, destination: Any) -> Traced:
    """numpy.moveaxis."""
    sources = [s % len(x.sizes) for s in (source if isinstance(source, tuple | list) else [source])]
    places = destination if isinstance(destination, tuple | list) else [destination]
    order = [a for a in range(len(x.sizes)) if a not in sources]
    for place, axis in sorted(zip((p % len(x.sizes) for p in places), sources, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


def take_along_axis(x: Traced, indices: Traced, axis: int = -1) -> Traced:
    """numpy.take_along_axis; one element a row is a masked sum, of what is computed, too."""
    (along,) = axes_of(axis, len(x.sizes))
    if indices.sizes[along] != 1:
        shape = tuple(indices.sizes[a] if a == along else n for a, n in enumerate(x.sizes))
        return gathered(x, broadcast(indices, shape), along, each=True)
    place, count = places_along(x, along), x.shape[along]
    from_end = where(indices < 0, indices + count, indices)
    return astype(reduced("sum", where(place == from_end, x, 0.0), along, True), x.dtype)


def norm(x: Traced, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """numpy.linalg.norm of vectors, and of all elements."""
    if ord in (None, 2, "fro"):
        return np.sqrt(sum_(x * x, axis, None, keepdims))
    if ord == 1:
        return sum_(abs(x), axis, None, keepdims)
    if ord == np.inf:
        return max_(abs(x), axis, keepdims)
    raise Untraceable(f"It takes a norm of order {ord}.")


def round_(x: Traced, decimals: int = 0) -> Any:
    """numpy.round."""
    return np.rint(x * 10.0**decimals) / 10.0**decimals if decimals else np.rint(x)


def windows(
    x: Traced, kind: str, size: tuple[int, ...], step: tuple[int, ...], pad: tuple[int, ...]
) -> Traced:
    """Folds of windows along the last axes, with neutral elements around them."""
    lead = len(x.sizes) - len(size)
    rest = [
        (n + 2 * p - k) // s + 1 for n, k, s, p in zip(x.sizes[lead:], size, step, pad, strict=True)
    ]
    shape = (*x.sizes[:lead], *rest)
    node = x.tape.write(
        "window_" + kind,
        (x.node,),
        shape,
        x.dtype,
        axes=list(range(lead, len(x.sizes))),
        size=[int(k) for k in size],
        step=[int(s) for s in step],
        pad=[int(p) for p in pad],
    )
    return Traced(x.tape, node, shape, x.dtype)


def dots(
    x: Traced,
    weights: Traced,
    step: tuple[int, ...],
    pad: tuple[int, ...],
    apart: tuple[int, ...],
) -> Traced:
    """Sums of the windows of [N, G, C, …] by weights [G, O, C, …]: [N, G, O, …]."""
    size = weights.sizes[3:]
    numbers = {"step": step, "pad": pad, "apart": apart}
    room = zip(x.sizes[3:], size, step, pad, apart, strict=True)
    rest = [(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in room]
    return _weighted("window_dot", x, weights, rest, numbers)


def undots(
    x: Traced,
    weights: Traced,
    step: tuple[int, ...],
    pad: tuple[int, ...],
    apart: tuple[int, ...],
    more: tuple[int, ...],
) -> Traced:
    """Sums over the windows of a result [N, G, O, …] that each of its elements is in, of elements
    of [N, G, C, …] by weights [G, O, C, …]; it is `more` longer than what windows reach."""
    size = weights.sizes[3:]
    numbers = {"step": step, "pad": pad, "apart": apart, "more": more}
    room = zip(x.sizes[3:], size, step, pad, apart, more, strict=True)
    rest = [(n - 1) * s - 2 * p + (k - 1) * d + 1 + m for n, k, s, p, d, m in room]
    return _weighted("window_undot", x, weights, rest, numbers)


def _weighted(
    op: str, x: Traced, weights: Traced, rest: list[int], numbers: dict[str, tuple[int, ...]]
) -> Traced:
    if x.sizes[1] != weights.sizes[0] or x.sizes[2] != weights.sizes[2] or min(rest) < 1:
        raise Untraceable(
            f"It slides weights of shape {list(weights.sizes)} over {list(x.sizes)}; they do not"
            " fit each other."
        )
    shape = (*x.sizes[:2], weights.sizes[1], x.sizes[2], *rest)
    node = x.tape.write(
        op,
        (x.node, weights.node),
        shape,
        x.dtype,
        axes=list(range(3, len(x.sizes))),
        size=[int(k) for k in weights.sizes[3:]],
        **{name: [int(n) for n in listed] for name, listed in numbers.items()},
    )
    return reduced("sum", Traced(x.tape, node, shape, x.dtype), 3)


FUNCTIONS: dict[str, Function] = {
    "sum": sum_,
    "mean": mean,
    "var": var,
    "std": std,
    "prod": prod,
    "norm": norm,
    "max": max_,
    "amax": max_,
    "min": min_,
    "amin": min_,
    "argmax": argmax,
    "argmin": argmin,
    "any": any_,
    "all": all_,
    "count_nonzero": count_nonzero,
    "cumsum": cumsum,
    "cumprod": cumprod,
    "where": where,
    "clip": clip,
    "full_like": full_like,
    "zeros_like": lambda x, dtype=None, **_: full_like(x, 0.0, dtype),
    "ones_like": lambda x, dtype=None, **_: full_like(x, 1.0, dtype),
    "reshape": reshape,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "transpose": transpose,
    "swapaxes": swapaxes,
    "moveaxis": moveaxis,
    "flip": flip,
    "concatenate": concatenate,
    "stack": stack,
    "split": split,
    "take_along_axis": take_along_axis,
    "round": round_,
    "around": round_,
    "broadcast_to": lambda x, shape: broadcast(x, tuple(int(n) for n in shape)),
    "ravel": lambda x: reshaped(x, (-1,)),
    "copy": lambda x, **_: Traced(x.tape, x.node, x.sizes, x.dtype),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x, axis=None: x.size if axis is None else x.shape[axis],
    "result_type": lambda *args: np.result_type(
        *(a.dtype if isinstance(a, Traced) else a for a in args)
    ),
}


METHODS: dict[str, Function] = {
    "conj": lambda x: x,
    "conjugate": lambda x: x,
    **{n: FUNCTIONS[n] for n in ("sum", "mean", "var", "std", "prod", "max", "min", "cumsum")},
    **{n: FUNCTIONS[n] for n in ("cumprod", "clip", "reshape", "squeeze", "transpose", "ravel")},
    **{n: FUNCTIONS[n] for n in ("swapaxes", "copy", "round", "argmax", "argmin", "any", "all")},
    "astype": astype,
    "windows": windows,
    "dots": dots,
    "undots": undots,
    "flatten": FUNCTIONS["ravel"],
}
definitions.FUNCTIONS |= FUNCTIONS
definitions.METHODS |= METHODS
