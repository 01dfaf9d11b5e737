"""Comparison into bits, and selection by bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ci.lab.reference.vector_rows.window import (
    DST,
    EXTRA,
    TYPES,
    A,
    Array,
    B,
    Meaning,
    Whole,
    Window,
    at,
    values,
)

_COMPARISONS: dict[str, tuple[Callable[..., Any], str]] = {
    "eq": (np.equal, "="), "ne": (np.not_equal, "≠"), "lt": (np.less, "<"),
    "le": (np.less_equal, "≤"), "gt": (np.greater, ">"), "ge": (np.greater_equal, "≥"),
}  # fmt: skip


def _width(dtype: str) -> int:
    return 256 // np.dtype(TYPES[dtype]).itemsize


def _second(window: Window, dtype: str, n: Sequence[int], r: int, scalar: bool) -> Array:
    if scalar:
        with np.errstate(all="ignore"):
            return np.full(_width(dtype), window.scalar).astype(TYPES[dtype])
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
        width, kind = _width(dtype), TYPES[dtype]
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


_WALK = ((1, 2, 3), (1, 1, 2, 0), (1, 1, 2, 0), (8, 8, 0, 9), (8, 8, 0, 9))
_NAN = "with a NaN only ≠ is true"
_MODES = (
    "mode 0 takes the bits from CMPMASK, the same in every iteration",
    "mode 1 from memory, with CMPMASK's first element as the alternative",
    "mode 2 from the address that CMPMASK's first word holds",
)


def rows() -> Iterator[Whole]:
    """Every comparison and selection."""
    for word, (compare, sign) in _COMPARISONS.items():
        for dtype in ("half", "float", "int32_t") if word == "eq" else ("half", "float"):
            pair = f"{at(dtype, A)}, {at(dtype, B)}, n[0], 1, n[1], n[2], 8, n[3], n[4]"
            yield Whole(
                f"vcmpv_{word}", dtype, f"vcmpv_{word}(ub + {DST}, {pair});", _WALK,
                _to_memory(dtype, compare, scalar=False),
                f"src0 {sign} src1, one bit a lane, packed; the mask is ignored", values(dtype),
                f"{_NAN}; in counter mode the bits beyond the count are 0",
            )  # fmt: skip
            yield Whole(
                f"vcmpvs_{word}", dtype,
                f"vcmpvs_{word}(ub + {DST}, {at(dtype, A)}, ({dtype})scalar, n[0], 1, n[1], 8, "
                "n[3]);", _WALK, _to_memory(dtype, compare, scalar=True),
                f"src {sign} scalar, one bit a lane, packed; the mask is ignored", values(dtype),
                f"{_NAN}; in counter mode the bits beyond the count are 0",
            )  # fmt: skip
            if dtype != "int32_t":
                yield Whole(
                    f"vcmp_{word}", dtype, f"vcmp_{word}({pair});", _WALK,
                    _to_register(dtype, compare), f"src0 {sign} src1, one bit a lane in CMPMASK",
                    values(dtype), f"{_NAN}; the bits of inactive lanes stay",
                )  # fmt: skip
    for dtype in ("half", "float"):
        strides = "n[0], n[1], n[2], 1, n[1] * 8, 8, 8"
        for mode, words in enumerate(_MODES):
            second = at("uint8_t", EXTRA) if mode == 1 else at(dtype, B)
            address = f"state.compare_mask[0] = (uint32_t)(uint64_t)(ub + {EXTRA});"
            yield Whole(
                "vsel", dtype,
                (address if mode == 2 else "")
                + f"vsel({at(dtype, DST)}, {at(dtype, A)}, {second}, {strides}"
                + (f", {mode});" if mode else ");"),
                ((1, 2), (1, 1, 2), (1, 1, 2, 0)), _selection(dtype, mode),
                f"src0 where the bit is set, else the alternative; {words}", values(dtype),
                variant=f", mode {mode}",
            )  # fmt: skip
