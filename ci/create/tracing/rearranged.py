"""numpy's functions that move elements: padding, repeating, joining and splitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ci.create.tracing.array import Traced, axes_of, broadcast, lifted, reshaped
from ci.create.tracing.functions import full_like, transpose
from ci.create.tracing.ranges import concatenate, flip, split
from ci.create.tracing.tape import Untraceable


def pad(x: Traced, width: Any, mode: str = "constant", **more: Any) -> Any:
    """numpy.pad with a number, with the elements at the ends, or round."""
    given = np.broadcast_to(np.asarray(width, dtype=int), (len(x.sizes), 2))
    fill = more.get("constant_values", 0)
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric") or np.ndim(fill):
        raise Untraceable(f"It pads by numpy.pad(mode='{mode}'), which is not traced.")
    inside = x
    for axis, (before, after) in enumerate(given.tolist()):
        pieces = [x]
        for count, front in ((before, True), (after, False)):
            if not count:
                continue
            if mode == "constant":
                shape = tuple(count if a == axis else n for a, n in enumerate(x.shape))
                piece = [full_like(x, fill, shape=shape)]
            elif mode == "edge":
                piece = [part_of(x, axis, *((0, 1) if front else (-1, None)))] * count
            elif mode == "wrap":
                piece = [part_of(x, axis, *((-count, None) if front else (0, count)))]
            else:
                end = 0 if mode == "symmetric" else 1  # the element there is not repeated
                places = range(count - 1 + end, end - 1, -1)
                if not front:
                    places = range(-1 - end, -1 - end - count, -1)
                piece = [part_of(x, axis, p, p + 1 or None) for p in places]
            pieces = [*piece, *pieces] if front else [*pieces, *piece]
        x = concatenate(pieces, axis) if len(pieces) > 1 else x
    if mode == "constant" and isinstance(fill, int | float):
        widths = tuple((int(before), int(after)) for before, after in given)
        x.tape.padded[x.node] = inside, widths, float(fill)
    return x


def part_of(x: Any, axis: int, start: Any, stop: Any) -> Any:
    """A range of an axis."""
    return x[(*(slice(None),) * axis, slice(start, stop))]


def roll(x: Traced, shift: Any, axis: Any = None) -> Any:
    """numpy.roll."""
    if axis is None:
        return reshaped(roll(reshaped(x, (-1,)), shift, 0), x.shape)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
    for along, by in zip(axes, shifts, strict=True):
        place = along % len(x.sizes)
        by = int(by) % x.sizes[place] if abs(int(by)) >= x.sizes[place] else by
        if by:
            x = concatenate([part_of(x, place, -by, None), part_of(x, place, None, -by)], place)
    return x


def repeat(x: Traced, repeats: Any, axis: Any = None) -> Any:
    """numpy.repeat, each element equally often."""
    if not isinstance(repeats, int):
        raise Untraceable("It repeats elements by different numbers; repeat all equally often.")
    if axis is None:
        return repeat(reshaped(x, (-1,)), repeats, 0)
    (along,) = axes_of(axis, len(x.sizes))
    lines = reshaped(x, (*x.shape[: along + 1], 1, *x.shape[along + 1 :]))
    many = (*lines.sizes[: along + 1], int(repeats), *lines.sizes[along + 2 :])
    shape = (*x.shape[:along], x.shape[along] * repeats, *x.shape[along + 1 :])
    return reshaped(broadcast(lines, many), shape)


def tile(x: Traced, reps: Any) -> Any:
    """numpy.tile."""
    given = list(reps) if isinstance(reps, tuple | list) else [reps]
    given = [1] * (len(x.sizes) - len(given)) + given
    x = reshaped(x, (*(1,) * (len(given) - len(x.sizes)), *x.shape))
    for axis, count in enumerate(given):
        if int(count) != 1:
            lines = reshaped(x, (*x.shape[:axis], 1, *x.shape[axis:]))
            many = (*lines.sizes[:axis], int(count), *lines.sizes[axis + 1 :])
            shape = (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :])
            x = reshaped(broadcast(lines, many), shape)
    return x


def diff(x: Traced, n: int = 1, axis: int = -1, **_: Any) -> Any:
    """numpy.diff."""
    (along,) = axes_of(axis, len(x.sizes))
    for _times in range(n):
        x = part_of(x, along, 1, None) - part_of(x, along, None, -1)
    return x


def gradient(f: Traced, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """numpy.gradient with one distance between neighbours."""
    axes = axes_of(axis, len(f.sizes))
    if edge_order != 1 or len(spacing) > 1 or (spacing and np.ndim(spacing[0])):
        raise Untraceable("It calls numpy.gradient with several distances, which is not traced.")
    h = spacing[0] if spacing else 1.0
    found = []
    for a in axes:
        inner = (part_of(f, a, 2, None) - part_of(f, a, None, -2)) / (2.0 * h)
        first = (part_of(f, a, 1, 2) - part_of(f, a, 0, 1)) / h
        last = (part_of(f, a, -1, None) - part_of(f, a, -2, -1)) / h
        found.append(concatenate([first, inner, last], a))
    return found[0] if len(found) == 1 else found


def stacked(axis: int, rank: int) -> Callable[..., Any]:
    """numpy.hstack and its like: joins along `axis` what has `rank` axes at least."""

    def made(parts: Any, **_: Any) -> Any:
        values = [at_least(v, rank) for v in lifted(parts)]
        along = 0 if axis == 1 and len(values[0].sizes) == 1 else axis
        return concatenate(values, along)

    return made


def at_least(x: Traced, rank: int) -> Traced:
    """`x` with so many axes at least, as numpy adds them."""
    if len(x.sizes) >= rank:
        return x
    if rank == 3:
        x = at_least(x, 2)
        return reshaped(x, (*x.shape, 1))
    return reshaped(x, (*(1,) * (rank - len(x.sizes)), *x.shape))


def each_at_least(rank: int) -> Callable[..., Any]:
    """numpy.atleast_1d and its like."""

    def made(*values: Any) -> Any:
        found = [at_least(v, rank) for v in lifted(values)]
        return found[0] if len(found) == 1 else tuple(found)

    return made


def column_stack(parts: Any) -> Any:
    """numpy.column_stack."""
    values = [v[:, None] if len(v.sizes) == 1 else v for v in lifted(parts)]
    return concatenate(values, 1)


def split_along(axis: int) -> Callable[..., Any]:
    """numpy.hsplit and its like."""

    def made(x: Traced, sections: Any) -> Any:
        return split(x, sections, axis if len(x.sizes) > 1 or axis == 0 else 0)

    return made


def array_split(x: Traced, sections: Any, axis: int = 0) -> Any:
    """numpy.array_split."""
    if isinstance(sections, int) and x.sizes[axis] % sections:
        each, more = divmod(x.sizes[axis], sections)
        ends = np.cumsum([each + (k < more) for k in range(sections)])[:-1]
        return split(x, [int(e) for e in ends], axis)
    return split(x, sections, axis)


def take(x: Traced, indices: Any, axis: Any = None, mode: str = "raise", **_: Any) -> Any:
    """numpy.take of places that are numbers, or the values of a tensor."""
    flat = reshaped(x, (-1,)) if axis is None else x
    (along,) = axes_of(0 if axis is None else axis, len(flat.sizes))
    if mode != "raise":
        raise Untraceable(f"It calls numpy.take with mode='{mode}'; compute the places before.")
    if isinstance(indices, Traced):
        return flat[(*(slice(None),) * along, indices)]
    if np.ndim(indices) == 0:
        return flat[(*(slice(None),) * along, int(indices))]
    parts = [part_of(flat, along, int(i), int(i) + 1 or None) for i in np.ravel(indices)]
    return concatenate(parts, along)


def append(x: Traced, values: Any, axis: Any = None) -> Any:
    """numpy.append."""
    if axis is None:
        a, b = lifted((x, values))
        return concatenate([reshaped(a, (-1,)), reshaped(b, (-1,))], 0)
    return concatenate([x, values], axis)


def rot90(x: Traced, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """numpy.rot90."""
    order = list(range(len(x.sizes)))
    a, b = (n % len(x.sizes) for n in axes)
    order[a], order[b] = order[b], order[a]
    turned = [x, flip(transpose(x, order), a), flip(flip(x, a), b), transpose(flip(x, a), order)]
    return turned[k % 4]


def rollaxis(x: Traced, axis: int, start: int = 0) -> Any:
    """numpy.rollaxis."""
    order = [a for a in range(len(x.sizes)) if a != axis % len(x.sizes)]
    start = start + len(x.sizes) if start < 0 else start
    order.insert(start - (start > axis % len(x.sizes)), axis % len(x.sizes))
    return transpose(x, order)


def meshgrid(*values: Any, indexing: str = "xy", **_: Any) -> Any:
    """numpy.meshgrid of two vectors."""
    if len(values) != 2:
        raise Untraceable("It calls numpy.meshgrid of other than two vectors.")
    x, y = lifted(values)
    if indexing == "ij":
        return broadcast_arrays(x[:, None], y[None, :])
    return broadcast_arrays(x[None, :], y[:, None])


def broadcast_arrays(*values: Any, **_: Any) -> Any:
    """numpy.broadcast_arrays."""
    given = lifted(values)
    shape = np.broadcast_shapes(*(v.sizes for v in given))
    return tuple(broadcast(v, shape) for v in given)
