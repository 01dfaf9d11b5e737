"""numpy's functions that sort, or take what is at a place of the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ci.create.tracing import definitions
from ci.create.tracing.array import Traced, axes_of, broadcast, lift, reduced, reshaped
from ci.create.tracing.functions import astype, places_along, where
from ci.create.tracing.tape import Untraceable

_MOST_PLACES = 16
"""Places of each row that are written one after the other."""


def _ordered(x: Traced, axis: Any, places: bool) -> Traced:
    flat = reshaped(x, (-1,)) if axis is None else x
    (along,) = axes_of(0 if axis is None else axis, len(flat.sizes))
    dtype = np.dtype("int64") if places else x.dtype
    node = x.tape.write("sort", (flat.node,), flat.sizes, dtype, axis=along, places=places)
    return Traced(x.tape, node, flat.sizes, dtype)


def sort(x: Traced, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Traced:
    """numpy.sort."""
    return _ordered(x, axis, False)


def argsort(x: Traced, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Traced:
    """numpy.argsort; equal elements stay in order, whatever the kind."""
    return _ordered(x, axis, True)


def sort_in_place(x: Traced, axis: int = -1, kind: Any = None) -> None:
    """ndarray.sort."""
    x.node = sort(x, axis).node


def median(x: Traced, axis: Any = None, *, keepdims: bool = False) -> Any:
    """numpy.median: the element in the middle, or the mean of both."""
    return _in_order(x, axis, keepdims, lambda n: ((n - 1) // 2, n // 2, 0.5))


def percentile(x: Traced, q: Any, axis: Any = None, **more: Any) -> Any:
    """numpy.percentile."""
    return quantile(x, np.asarray(q) / 100 if np.ndim(q) else q / 100, axis, **more)


def quantile(
    x: Traced, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """numpy.quantile between the two nearest elements."""
    if np.ndim(q) or isinstance(q, Traced) or method != "linear":
        raise Untraceable("It takes several quantiles at once, or by a method; take one at a time.")

    def at(n: Any) -> tuple[Any, Any, Any]:
        place = (n - 1) * q
        low = place // 1
        return low, low + 1, place - low

    return _in_order(x, axis, keepdims, at)


def _in_order(x: Traced, axis: Any, keepdims: bool, at: Callable[[Any], Any]) -> Any:
    """What lies between two elements of each row, in order: `at` gives their places and how far
    from the first it is, of the length."""
    if isinstance(axis, tuple | list):
        if len(axis) not in (1, len(x.sizes)):
            raise Untraceable("It takes a median of some axes at once; take it of one, or of all.")
        axis = axis[0] if len(axis) == 1 else None
    flat = reshaped(x, (-1,)) if axis is None else x
    (along,) = axes_of(0 if axis is None else axis, len(flat.sizes))
    first, second, far = at(flat.shape[along])
    rank = argsort(argsort(flat, along), along)
    low, high = (
        reduced("sum", where(rank == place, flat, 0.0), along, True) for place in (first, second)
    )
    missing = reduced("max", where(flat != flat, 1.0, 0.0), along, True) > 0
    found = where(missing, np.nan, low + (high - low) * far)
    found = found.astype(x.dtype if x.dtype.kind == "f" else "float64")
    if axis is None:
        return reshaped(found, (1,) * len(x.sizes) if keepdims else ())
    sizes = x.shape
    return found if keepdims else reshaped(found, (*sizes[:along], *sizes[along + 1 :]))


def put_along_axis(x: Traced, indices: Traced, values: Any, axis: Any) -> None:
    """numpy.put_along_axis of a few places a row; the last one of equal places counts."""
    (along,) = axes_of(axis, len(x.sizes))
    count = indices.sizes[along]
    if count > _MOST_PLACES:
        raise Untraceable(
            f"It writes at {count} places of each row, one after the other; {_MOST_PLACES} at most"
            " are traced. A mask by numpy.arange(n) == index is, too."
        )
    assert indices.shape[along] == count  # which is recorded: the host asks for as many
    given = broadcast(lift(x.tape, values), indices.sizes)
    counted, found = places_along(x, along), x
    for n in range(count):
        one = (*(slice(None),) * along, slice(n, n + 1))
        place = indices[one]
        place = where(place < 0, place + x.shape[along], place)
        found = where(counted == place, given[one], found)
    x.node = astype(found, x.dtype).node


def _stable_method(x: Traced, axis: Any = -1, kind: Any = None) -> Traced:
    """ndarray.argsort, which is not numpy.argsort: golden functions have a stable one."""
    if kind not in ("stable", "mergesort"):
        raise Untraceable(
            "It calls .argsort() of an array, which leaves open which of two equal elements comes"
            " first; write numpy.argsort, or say kind='stable'."
        )
    return argsort(x, axis)


definitions.FUNCTIONS |= {
    "sort": sort,
    "argsort": argsort,
    "median": median,
    "quantile": quantile,
    "percentile": percentile,
    "put_along_axis": put_along_axis,
}
definitions.METHODS |= {"sort": sort_in_place, "argsort": _stable_method}
