"""Comparison into bits, and selection by bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lab.reference.vector_rows.element import NUMPY_TYPES, Array
from lab.reference.vector_rows.window import (
    DST,
    EXTRA,
    A,
    B,
    Meaning,
    Meanings,
    Window,
)

_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _width(dtype: str) -> int:
    return 256 // np.dtype(NUMPY_TYPES[dtype]).itemsize


def _second(window: Window, dtype: str, n: Sequence[int], r: int, scalar: bool) -> Array:
    if scalar:
        with np.errstate(all="ignore"):
            return np.full(_width(dtype), window.scalar).astype(NUMPY_TYPES[dtype])
    return window.lanes(dtype, B, _width(dtype), r, n[2], n[4])


def _to_memory(dtype: str, compare: Callable[..., Any], scalar: bool) -> Meaning:
    """n is repeat, two block strides, two repeat strides."""

    def meaning(window: Window, n: Sequence[int]) -> None:
        width = _width(dtype)
        for r, active in enumerate(window.active(width, n[0], masked=False)):
            first = window.lanes(dtype, A, width, r, n[1], n[3])
            truth = compare(first, _second(window, dtype, n, r, scalar)) & active
            window.put(DST + r * width // 8, np.packbits(truth, bitorder="little"))

    return meaning


def _to_register(dtype: str, compare: Callable[..., Any]) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        width = _width(dtype)
        for r, active in enumerate(window.active(width, n[0])):
            truth = compare(
                window.lanes(dtype, A, width, r, n[1], n[3]),
                window.lanes(dtype, B, width, r, n[2], n[4]),
            )
            for lane in np.flatnonzero(active):
                word, bit = divmod(int(lane), 64)
                kept = window.compare[word] & ~(1 << bit)
                window.compare[word] = kept | int(truth[lane]) << bit

    return meaning


def _selection(dtype: str, mode: int) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        width, kind = _width(dtype), NUMPY_TYPES[dtype]
        register = np.array(window.compare, dtype=np.uint64)
        for r, active in enumerate(window.active(width, n[0])):
            first = window.lanes(dtype, A, width, r, n[2], 8)
            other = window.lanes(dtype, B, width, r, 1, 8)
            if mode == 1:
                other = np.full(width, register.view(kind)[0])
            row = register.view(np.uint8) if mode == 0 else window.ub[EXTRA + r * width // 8 :]
            bits = np.unpackbits(row[: width // 8], bitorder="little").astype(bool)
            chosen = np.where(bits, first, other).astype(kind)
            size = np.dtype(kind).itemsize
            for lane in np.flatnonzero(active):
                block, inside = divmod(int(lane) * size, 32)
                window.put(DST + (r * 8 + block) * n[1] * 32 + inside, chosen[lane])

    return meaning


MEANINGS: Meanings = {
    "vcmpv_{key}": lambda dtype, key: _to_memory(dtype, _COMPARISONS[key], scalar=False),
    "vcmpvs_{key}": lambda dtype, key: _to_memory(dtype, _COMPARISONS[key], scalar=True),
    "vcmp_{key}": lambda dtype, key: _to_register(dtype, _COMPARISONS[key]),
    "vsel": lambda dtype, key: _selection(dtype, int(key)),
}
