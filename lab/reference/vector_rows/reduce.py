"""Reductions: sums as binary trees, extremes with their index, by iteration, block and pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lab.reference.vector_rows.element import NUMPY_TYPES, Array
from lab.reference.vector_rows.window import (
    DST,
    A,
    Meaning,
    Meanings,
    Window,
)

VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX = range(4)


def _tree(window: Window, lanes: Array) -> Any:
    """Neighbours are added first; every sum is rounded to the element type."""
    while len(lanes) > 1:
        with np.errstate(all="ignore"):
            sums = lanes[0::2] + lanes[1::2]
        lanes = np.array([window.saturated(s) for s in sums], dtype=lanes.dtype)
    return lanes[0]


def _iterations(window: Window, dtype: str, n: Sequence[int]) -> Iterator[tuple[int, Array, Array]]:
    """Number, lanes and active lanes of every iteration; n is repeat, pitch, block, stride."""
    width = 256 // np.dtype(NUMPY_TYPES[dtype]).itemsize
    for r, active in enumerate(window.active(width, n[0])):
        yield r, window.lanes(dtype, A, width, r, n[2], n[3]), active


def _sum(dtype: str) -> Meaning:
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize

    def meaning(window: Window, n: Sequence[int]) -> None:
        total = None
        for r, lanes, active in _iterations(window, dtype, n):
            part = _group_sum(window, lanes, active)
            with np.errstate(all="ignore"):
                total = part if total is None else window.saturated(total + part)
            if not n[4]:
                window.put(DST + r * n[1] * size, part)
        if n[4] and total is not None:
            window.left["accumulated"] = int.from_bytes(total.tobytes(), "little")

    return meaning


def _extreme(dtype: str, pick: Callable[[Array], Any]) -> Meaning:
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize
    index_type = np.uint16 if size == 2 else np.uint32

    def meaning(window: Window, n: Sequence[int]) -> None:
        order, found = n[4], []
        pitch = n[1] * {ONLY_VALUE: size, ONLY_INDEX: 4}.get(order, 2 * size)
        for r, lanes, active in _iterations(window, dtype, n):
            where = np.flatnonzero(active)
            lane = int(where[pick(lanes[where])])
            value, index = lanes[lane].tobytes(), index_type(lane).tobytes()
            data = (value + index, index + value, value, np.uint32(lane).tobytes())[order]
            window.put(DST + r * pitch, np.frombuffer(data, dtype=np.uint8))
            found.append((lanes[lane], r * len(lanes) + lane))
        if found:
            best, place = found[int(pick(np.array([v for v, _ in found])))]
            window.left["max_min"] = int.from_bytes(best.tobytes(), "little") | place << 32

    return meaning


def _in_block(dtype: str) -> int:
    return 32 // np.dtype(NUMPY_TYPES[dtype]).itemsize


def _grouped(dtype: str, group: int, reduce: Callable[[Window, Array, Array], Any]) -> Meaning:
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize

    def meaning(window: Window, n: Sequence[int]) -> None:
        for r, lanes, active in _iterations(window, dtype, n):
            results = len(lanes) // group
            for g in range(results):
                part = slice(g * group, (g + 1) * group)
                if active[part].any():
                    result = reduce(window, lanes[part], active[part])
                    window.put(DST + (r * n[1] * results + g) * size, result)

    return meaning


def _group_sum(window: Window, lanes: Array, active: Array) -> Any:
    return _tree(window, np.where(active, lanes, lanes.dtype.type(0)).astype(lanes.dtype))


def _group_extreme(pick: Callable[[Array], Any]) -> Callable[[Window, Array, Array], Any]:
    return lambda _, lanes, active: lanes[active][pick(lanes[active])]


_PICK: dict[str, Callable[[Array], Any]] = {"max": np.argmax, "min": np.argmin}

MEANINGS: Meanings = {
    "vcadd": lambda dtype, _: _sum(dtype),
    "vc{key}": lambda dtype, key: _extreme(dtype, _PICK[key]),
    "vcg{key}": lambda dtype, key: _grouped(dtype, _in_block(dtype), _group_extreme(_PICK[key])),
    "vcgadd": lambda dtype, _: _grouped(dtype, _in_block(dtype), _group_sum),
    "vcpadd": lambda dtype, _: _grouped(dtype, 2, _group_sum),
}
