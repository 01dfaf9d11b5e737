"""Ranges of axes: what is cut out of a traced array, and what is put together of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing import array, definitions
from ci.create.tracing.array import Traced, axes_of, broadcast, lifted, reshaped
from ci.create.tracing.symbols import scalar_node
from ci.create.tracing.tape import Untraceable

_TABLES = (array.UNARY, array.BINARY, array.COMPARISONS, array.LOGIC)
_ELEMENTWISE = {"not", "cast", "where", *(op for table in _TABLES for op in table.values())}


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
    """New axes, whole axes, one place or a range of an axis, or the places in one tensor."""
    keys = _keys(x, key)
    by_values = [n for n, k in enumerate(keys) if _places(k)]
    if by_values:
        return _at_places(x, keys, by_values)
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
    for one in keys:
        if isinstance(one, np.ndarray | list) or (isinstance(one, Traced) and not _places(one)):
            raise Untraceable(
                "It indexes a tensor with a mask or with an array of constants, whose elements a"
                " kernel would have to count. Use numpy.where; make the array an input."
            )
    if any(k is Ellipsis for k in keys):
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        used = sum(k is not None and k is not Ellipsis for k in keys)
        keys[place : place + 1] = [slice(None)] * (len(x.sizes) - used)
    return keys + [slice(None)] * (len(x.sizes) - sum(k is not None for k in keys))


def _places(key: Any) -> bool:
    """Whether a part of an index is a tensor of whole numbers."""
    return isinstance(key, Traced) and key.dtype.kind in "iu"


def _at_places(x: Traced, keys: list[Any], by_values: list[int]) -> Traced:
    """`x` with all parts of an index, of which the ones at these places are tensors."""
    if len(by_values) == 2 and by_values[1] == by_values[0] + 1:
        return _one_each(x, keys, by_values[0])
    numbers = [n for n, k in enumerate(keys) if k is not None and not isinstance(k, slice | Traced)]
    if len(by_values) > 1 or any(abs(n - by_values[0]) > 1 for n in numbers):
        raise Untraceable(
            "It indexes several axes at once by values; index one axis, and the result again."
        )
    (place,) = by_values
    index = keys[place]
    before = sum(k is None or isinstance(k, slice) for k in keys[:place])
    rest = indexed(x, (*keys[:place], slice(None), *keys[place + 1 :]))
    return gathered(rest, index, before)


def _one_each(x: Traced, keys: list[Any], place: int) -> Traced:
    """One element of each row, `x[numpy.arange(n), index]`."""
    counted, index = keys[place], keys[place + 1]
    axis = sum(k is not None for k in keys[:place])
    node = x.tape.nodes[counted.node]
    every = node["op"] == "iota" and counted.sizes == (x.sizes[axis],) == index.sizes
    others = [k for n, k in enumerate(keys) if n not in (place, place + 1)]
    if not every or any(k != slice(None) for k in others):
        raise Untraceable(
            "It indexes several axes at once by values; numpy.arange(n) of a whole axis and one"
            " place for each of its elements are traced."
        )
    shape = [1] * len(x.sizes)
    shape[axis] = x.shape[axis]
    places: Any = reshaped(index, tuple(shape))
    kept: Any = np.take_along_axis(x, places, axis + 1)
    sizes = x.shape
    return reshaped(kept, (*sizes[: axis + 1], *sizes[axis + 2 :]))


def gathered(x: Traced, index: Traced, axis: int, *, each: bool = False) -> Traced:
    """What lies at the places in `index` along an axis; `each`: places of its own for each element
    of the other axes. Of what is computed element by element, the same is computed of that."""
    node = x.tape.nodes[x.node]
    args = [x.tape.nodes[a] for a in node["args"]]
    alike = [tuple(a["shape"]) in ((), x.sizes) for a in args]
    shape = index.sizes if each else (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
    if node["op"] in _ELEMENTWISE and args and all(alike):
        parts = [
            Traced(x.tape, a, tuple(known["shape"]), known["dtype"])
            for a, known in zip(node["args"], args, strict=True)
        ]
        own = [gathered(p, index, axis, each=each) if p.sizes == x.sizes else p for p in parts]
        made = x.tape.write(
            node["op"], tuple(p.node for p in own), shape, x.dtype, **node["params"]
        )
        return Traced(x.tape, made, shape, x.dtype)
    own_places = {"each": True} if each else {}
    made = x.tape.write("gather", (x.node, index.node), shape, x.dtype, axis=axis, **own_places)
    return Traced(x.tape, made, shape, x.dtype)


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
