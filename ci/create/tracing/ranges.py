"""Ranges of axes: what is cut out of a traced array, and what is put together of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing import definitions
from ci.create.tracing.array import Traced, axes_of, broadcast, lifted, reshaped
from ci.create.tracing.symbols import scalar_node
from ci.create.tracing.tape import Untraceable


def flip(x: Traced, axis: Any = None) -> Traced:
    """numpy.flip."""
    axes = axes_of(axis, len(x.sizes))
    return Traced(
        x.tape, x.tape.write("flip", (x.node,), x.sizes, x.dtype, axes=list(axes)), x.sizes, x.dtype
    )


def concatenate(parts: Any, axis: int = 0) -> Traced:
    """numpy.concatenate."""
    values = lifted(parts)
    (along,) = axes_of(axis, len(values[0].sizes))
    shape = list(values[0].sizes)
    shape[along] = sum(v.sizes[along] for v in values)
    tape, dtype = values[0].tape, np.result_type(*(v.dtype for v in values))
    node = tape.write("concat", tuple(v.node for v in values), tuple(shape), dtype, axis=along)
    return Traced(tape, node, tuple(shape), dtype)


def indexed(x: Traced, key: Any) -> Traced:
    """Basic indexing: new axes, whole axes, one place or a range of an axis."""
    keys = _keys(x, key)
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


def _keys(x: Traced, key: Any) -> list[Any]:
    """An index with a part for each axis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Traced | np.ndarray | list) for k in keys):
        raise Untraceable(
            "It indexes a tensor with a tensor; numpy.take_along_axis of one element, and a mask by"
            " numpy.arange(n) == index, are traced."
        )
    if any(k is Ellipsis for k in keys):
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        used = sum(k is not None and k is not Ellipsis for k in keys)
        keys[place : place + 1] = [slice(None)] * (len(x.sizes) - used)
    return keys + [slice(None)] * (len(x.sizes) - sum(k is not None for k in keys))


def sliced(x: Traced, axis: int, start: int, stop: int, step: int, said: tuple[Any, Any]) -> Traced:
    """A range of an axis. `said` are its ends in the golden function's own words: what they are
    computed from goes into the tape, so that they follow the shape."""
    if step < 0:
        raise Untraceable(f"It reads an axis in steps of {step}; a tensor is read forwards.")
    shape = list(x.sizes)
    shape[axis] = len(range(start, stop, step))
    if not shape[axis]:
        raise Untraceable("It takes a range of an axis that has no elements.")
    whole = _of_joined(x, axis, start, stop) if step == 1 else None
    if whole is not None:
        return whole
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
    (along,) = axes_of(axis, len(values[0].sizes) + 1)
    lines = [reshaped(v, (*v.shape[:along], 1, *v.shape[along:])) for v in values]
    return concatenate(lines, along)


def split(x: Traced, sections: Any, axis: int = 0) -> list[Traced]:
    """numpy.split into so many equal parts, or at these places."""
    (along,) = axes_of(axis, len(x.sizes))
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


def assigned(x: Traced, key: Any, value: Any) -> Traced:
    """`x` after `x[key] = value`, for a range, a place or steps of one axis."""
    keys = _keys(x, key)
    if any(k is None for k in keys):
        raise Untraceable("It assigns to a tensor with a new axis in the index.")
    parts: list[tuple[int, Any]] = [
        (axis, one)
        for axis, one in enumerate(keys)
        if not isinstance(one, slice) or one.indices(x.sizes[axis]) != (0, x.sizes[axis], 1)
    ]
    if not parts:
        return broadcast(lifted((x, value))[1], x.sizes)
    if len(parts) > 1:
        raise Untraceable("It assigns to ranges of several axes at once; assign to one at a time.")
    ((axis, one),) = parts
    new = lifted((x, value))[1]
    if not isinstance(one, slice):
        place = int(one) % x.sizes[axis]
        one = slice(place, place + 1) if int(one) >= 0 else slice(int(one), int(one) + 1 or None)
        new = (
            reshaped(new, (*new.shape[:axis], 1, *new.shape[axis:]))
            if len(new.sizes) >= axis
            else new
        )
    start, stop, step = one.indices(x.sizes[axis])
    shape = list(x.sizes)
    shape[axis] = len(range(start, stop, step))
    new = broadcast(new, tuple(shape)).astype(x.dtype)
    if step == 1:
        before = (slice(None),) * axis
        pieces = [indexed(x, (*before, slice(None, one.start)))] if start else []
        pieces += [new]
        pieces += [indexed(x, (*before, slice(one.stop, None)))] if stop < x.sizes[axis] else []
        return concatenate(pieces, axis) if len(pieces) > 1 else new
    if step < 0 or x.sizes[axis] % step or stop < x.sizes[axis] - step + 1:
        raise Untraceable("It assigns in steps that do not go through the whole axis.")
    laced = x.laced if x.laced and x.laced[:3] == (x.node, axis, step) else None
    lines = (
        list(laced[3])
        if laced
        else [indexed(x, (*(slice(None),) * axis, slice(k, None, step))) for k in range(step)]
    )
    lines[start] = new
    found = reshaped(stack(lines, axis + 1), x.shape)
    x.laced = (found.node, axis, step, tuple(lines))
    return found


def _of_joined(x: Traced, axis: int, start: int, stop: int) -> Traced | None:
    """A range of one number, or of what was put together, where it is whole pieces of that."""
    known = x.tape.nodes[x.node]
    shape = tuple(stop - start if a == axis else n for a, n in enumerate(x.sizes))
    if known["op"] == "cast":
        source = x.tape.nodes[known["args"][0]]
        inner = Traced(x.tape, known["args"][0], x.sizes, source["dtype"])
        found = _of_joined(inner, axis, start, stop)
        return None if found is None else found.astype(x.dtype)
    if known["op"] == "broadcast":
        source = x.tape.nodes[known["args"][0]]
        if source["op"] == "const":
            one = Traced(x.tape, known["args"][0], (), x.dtype)
            return broadcast(one, shape)
    if known["op"] != "concat" or known["params"]["axis"] != axis:
        return None
    pieces, place = [], 0
    for arg in known["args"]:
        piece = x.tape.nodes[arg]
        end = place + piece["shape"][axis]
        if start <= place and end <= stop:
            pieces.append(Traced(x.tape, arg, tuple(piece["shape"]), piece["dtype"]))
        elif place < stop and start < end:
            return None
        place = end
    return concatenate(pieces, axis) if len(pieces) > 1 else pieces[0]


definitions.METHODS |= {"__getitem__": indexed, "__setitem__": assigned}
