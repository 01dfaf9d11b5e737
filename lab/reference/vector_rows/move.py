"""Fill, copy, broadcast, gather, compaction and transposes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.reference.vector_rows.element import NUMPY_TYPES
from lab.reference.vector_rows.window import (
    DST,
    EXTRA,
    A,
    B,
    Meaning,
    Meanings,
    Operands,
    Prepare,
    Window,
)


def _size(dtype: str) -> int:
    return np.dtype(NUMPY_TYPES[dtype]).itemsize


def _fill_or_copy(dtype: str, copy: bool) -> Meaning:
    """n is repeat, two block strides, two repeat strides, the scalar's bits."""

    def meaning(window: Window, n: Sequence[int]) -> None:
        size = _size(dtype)
        word = np.array([n[5]], dtype=f"u{size}").view(NUMPY_TYPES[dtype])[0]
        for r, active in enumerate(window.active(256 // size, n[0])):
            lanes = window.lanes(dtype, A, 256 // size, r, n[2], n[4])
            for lane in np.flatnonzero(active):
                block, inside = divmod(int(lane) * size, 32)
                to = DST + (r * n[3] + block * n[1]) * 32 + inside
                window.put(to, lanes[lane] if copy else word)

    return meaning


def _copy(dtype: str) -> Meaning:
    """n is repeat, two block strides, two repeat strides; counter mode counts each iteration."""
    masked = _fill_or_copy(dtype, copy=True)

    def meaning(window: Window, n: Sequence[int]) -> None:
        if not window.counter:
            masked(window, n)
            return
        for r in range(n[0] if window.low else 0):
            for lane, value in enumerate(window.lanes(dtype, A, window.low, r, n[2], n[4])):
                block, inside = divmod(lane * _size(dtype), 32)
                window.put(DST + (r * n[3] + block * n[1]) * 32 + inside, value)

    return meaning


def _broadcast(dtype: str) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        size = _size(dtype)
        for i, value in enumerate(window.get(dtype, A, 8 * n[0])):
            to = DST + (i // 8 * n[2] + i % 8 * n[1]) * 32
            window.put(to, np.full(32 // size, value))

    return meaning


def _offsets(unit: int) -> Prepare:
    """Operand A holds byte offsets into operand B, multiples of `unit`."""

    def prepare(window: Window, _: Sequence[int], random: np.random.Generator) -> None:
        offsets = random.integers(0, 4096 // unit, 1024).astype(np.uint32) * unit
        window.put(A, offsets.astype(np.uint32))

    return prepare


def _gather(dtype: str) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        size = _size(dtype)
        width = 256 // size
        for r, active in enumerate(window.active(width, n[0])):
            table = window.get("uint32_t", A + r * width * 4, width)
            for lane in np.flatnonzero(active):
                source = B + int(table[lane])
                to = DST + r * n[1] * 32 + int(lane) * size
                window.put(to, window.ub[source : source + size].copy())

    return meaning


def _gather_blocks(window: Window, n: Sequence[int]) -> None:
    for b, offset in enumerate(window.get("uint32_t", A, 8 * n[0])):
        to = DST + (b // 8 * n[1] + b % 8 * max(n[2], 1)) * 32
        source = B + int(offset)
        window.put(to, window.ub[source : source + 32].copy())


def _compact(dtype: str) -> Meaning:
    """n is repeat, block stride, pattern, repeat stride, repeat stride of the bits."""

    def meaning(window: Window, n: Sequence[int]) -> None:
        count = window.low if window.counter else 256 // _size(dtype)
        kept = []
        for r in range(n[0]):
            lanes = window.lanes(dtype, A, count, r, n[1], n[3])
            i = np.arange(count)
            if n[2] == 0:
                row = window.ub[EXTRA + r * n[4] * 32 :][: (count + 7) // 8]
                chosen = np.unpackbits(row, bitorder="little")[:count].astype(bool)
            elif n[2] < 3:
                chosen = i % 2 == n[2] - 1
            else:
                chosen = i % 4 == n[2] - 3 if n[2] < 7 else i >= 0
            kept.append(lanes[chosen])
        result = np.concatenate(kept)
        window.put(DST, result)
        window.left["reduced"] = len(result)

    return meaning


def _turn_blocks(width: int) -> Meaning:
    """n is repeat, two repeat strides, blocks between destinations, upper halves to and from."""

    def meaning(window: Window, n: Sequence[int]) -> None:
        kind = {8: np.uint8, 16: np.uint16, 32: np.uint32}[width]
        upper_to, upper_from = (n[4], n[5]) if width == 8 else (0, 0)
        for r in range(n[0]):
            # A single iteration starts one stride behind the listed addresses.
            turn = r if n[0] > 1 else 1
            rows = np.stack(
                [window.ub[B + i * 64 + turn * n[2] * 32 :][:32].view(kind) for i in range(16)]
            )
            if width == 8:
                rows = rows[:, 16:] if upper_from else rows[:, :16]
            columns = rows.T.reshape(16, -1)
            for i, column in enumerate(columns):
                to = DST + i * n[3] * 32 + turn * n[1] * 32 + 16 * upper_to
                window.put(to, np.ascontiguousarray(column))

    return meaning


def _square(window: Window, _: Sequence[int]) -> None:
    window.put(DST, window.get("uint16_t", A, 256).reshape(16, 16).T)


def _image(dtype: str) -> Meaning:
    """n is pixels, channels, whether the channels go first."""

    def meaning(window: Window, n: Sequence[int]) -> None:
        flat = window.get(dtype, A, n[0] * n[1])
        shape = (n[0], n[1]) if n[2] else (n[1], n[0])
        window.put(DST, flat.reshape(shape).T)

    return meaning


MEANINGS: Meanings = {
    "vector_dup": lambda dtype, _: _fill_or_copy(dtype, copy=False),
    "vcopy": lambda dtype, _: _copy(dtype),
    "vbrcb": lambda dtype, _: _broadcast(dtype),
    "vgather": lambda dtype, _: _gather(dtype),
    "vgatherb": lambda *_: _gather_blocks,
    "vreducev2": lambda dtype, _: _compact(dtype),
    "scatter_vnchwconv_b{bits}": lambda dtype, _: _turn_blocks(_size(dtype) * 8),
    "vtranspose": lambda *_: _square,
    "v4dtrans": lambda dtype, _: _image(dtype),
}
OPERANDS: Operands = {
    "offsets of elements": lambda dtype: _offsets(_size(dtype)),
    "offsets of blocks": lambda _: _offsets(32),
}
