"""Ranges of axes: what is cut out of a traced array, and what is put together of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing.array import Traced, axes_of, lifted, reshaped
from ci.create.tracing.symbols import scalar_node
from ci.create.tracing.tape import Untraceable


def flip(x: Traced, axis: Any = None) -> Traced:
    """numpy.flip."""
    axes = axes_of(axis, x.ndim)
    return Traced(
        x.tape, x.tape.write("flip", (x.node,), x.sizes, x.dtype, axes=list(axes)), x.sizes, x.dtype
    )


def concatenate(parts: Any, axis: int = 0) -> Traced:
    """numpy.concatenate."""
    values = lifted(parts)
    (along,) = axes_of(axis, values[0].ndim)
    shape = list(values[0].sizes)
    shape[along] = sum(v.sizes[along] for v in values)
    tape, dtype = values[0].tape, np.result_type(*(v.dtype for v in values))
    node = tape.write("concat", tuple(v.node for v in values), tuple(shape), dtype, axis=along)
    return Traced(tape, node, tuple(shape), dtype)


def indexed(x: Traced, key: Any) -> Traced:
    """Basic indexing: new axes, whole axes, one place or a range of an axis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Traced | np.ndarray | list) for k in keys):
        raise Untraceable("It indexes a tensor with a tensor; numpy.take_along_axis is traced.")
    if Ellipsis in keys:
        place = keys.index(Ellipsis)
        used = sum(k is not None and k is not Ellipsis for k in keys)
        keys[place : place + 1] = [slice(None)] * (x.ndim - used)
    keys += [slice(None)] * (x.ndim - sum(k is not None for k in keys))
    found, axis, shape = x, 0, []
    for one in keys:
        if one is None:
            shape.append(1)
            continue
        n = x.sizes[axis]
        if isinstance(one, slice):
            start, stop, step = one.indices(n)
            if step == -1 and len(range(start, stop, step)) == n:
                found = flip(found, axis)
            elif (start, stop, step) != (0, n, 1):
                found = sliced(found, axis, start, stop, step, (one.start, one.stop))
            shape.append(found.sizes[axis])
        else:
            place = int(one) % n
            found = found if n == 1 else sliced(found, axis, place, place + 1, 1, (one, one + 1))
        axis += 1
    return reshaped(found, tuple(shape))


def sliced(x: Traced, axis: int, start: int, stop: int, step: int, said: tuple[Any, Any]) -> Traced:
    """A range of an axis. `said` are its ends in the golden function's own words: what they are
    computed from goes into the tape, so that they follow the shape."""
    if step < 0:
        raise Untraceable(f"It reads an axis in steps of {step}; a tensor is read forwards.")
    shape = list(x.sizes)
    shape[axis] = len(range(start, stop, step))
    if not shape[axis]:
        raise Untraceable("It takes a range of an axis that has no elements.")
    from_end = x._size((axis,), x.sizes[axis])
    nodes = []
    for end, value in zip(said, (start, stop), strict=True):
        if end is None:
            end = from_end if value else 0
        elif int(end) < 0 or int(end) == 0 < value:  # counted from the end, as the place -1 + 1 is
            end = from_end + end
        elif int(end) != value:
            raise Untraceable("It takes a range that goes beyond the end of an axis.")
        nodes.append(scalar_node(x.tape, end))
    ends = {"start": start, "stop": stop, "step": step}
    node = x.tape.write("slice", (x.node,), tuple(shape), x.dtype, axis=axis, **ends, sizes=nodes)
    return Traced(x.tape, node, tuple(shape), x.dtype)


def stack(parts: Any, axis: int = 0) -> Traced:
    """numpy.stack."""
    values = lifted(parts)
    (along,) = axes_of(axis, values[0].ndim + 1)
    lines = [reshaped(v, (*v.shape[:along], 1, *v.shape[along:])) for v in values]
    return concatenate(lines, along)


def split(x: Traced, sections: Any, axis: int = 0) -> list[Traced]:
    """numpy.split into so many equal parts, or at these places."""
    (along,) = axes_of(axis, x.ndim)
    whole = x._size((along,), x.sizes[along])
    if isinstance(sections, int):
        if x.sizes[along] % sections:
            raise Untraceable(f"It splits {x.sizes[along]} elements into {sections} parts.")
        each = whole // sections
        places = [each * k for k in range(1, sections)]
    else:
        places = list(sections)
    before: tuple[slice, ...] = (slice(None),) * along
    ends = zip([None, *places], [*places, None], strict=True)
    return [indexed(x, (*before, slice(a, b))) for a, b in ends]
