"""Sums and largest elements at places that values name: folds of what a mask leaves of the values.

Right and slow: every place looks at every value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing import definitions
from ci.create.tracing.array import (
    FOLDED_BY,
    NEUTRAL,
    Traced,
    broadcast,
    lift,
    reduced,
    reshaped,
)
from ci.create.tracing.positions import counted
from ci.create.tracing.tape import Untraceable


def joined_at(op: str, target: Any, index: Any, values: Any = None) -> None:
    """numpy.add.at and its like: `target` with values joined to it along its first axis.

    Raises Untraceable for what is no tensor of places.
    """
    if not (isinstance(index, Traced) and index.dtype.kind in "iu" and isinstance(target, Traced)):
        raise Untraceable(
            "It joins values at places; numpy.add.at and its like are traced for a tensor of the"
            " function (numpy.zeros_like of an input) and one tensor of whole numbers."
        )
    places = reshaped(index, (-1,))
    rest = target.shape[1:]
    one, wanted = lift(target.tape, values), (*index.sizes, *target.sizes[1:])
    pairs = list(zip(one.shape[::-1], target.shape[:0:-1], strict=False))
    fits = all(mine == theirs or mine == 1 for mine, theirs in pairs)  # the host will ask, too
    try:
        fits &= np.broadcast_shapes(one.sizes, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise Untraceable(f"It joins {list(one.sizes)} values at {list(wanted)} places.")
    given = broadcast(one, wanted)
    target.node = added(op, target, places, reshaped(given, (places.shape[0], *rest))).node


def added(op: str, target: Traced, places: Traced, values: Traced) -> Traced:
    """`target` with each of `values` joined to it at its place along the first axis."""
    count = target.shape[0]
    from_end: Any = np.where(places < 0, places + count, places)
    ones = (1,) * (len(target.sizes) - 1)
    hit = counted(target.tape, count)[:, None] == from_end[None, :]
    mask = reshaped(hit, (*hit.shape, *ones))
    kept: Any = np.where(mask, values[None], NEUTRAL[op])
    found: Any = FOLDED_BY[op](target, reduced(op, kept, 1))
    return found.astype(target.dtype)  # type: ignore[no-any-return]


definitions.METHODS |= {"ufunc.at": joined_at}
