"""Copies with bursts, gaps and padding; row-major matrices to Nz; tables; fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lab.reference.transfer_rows.base import (
    BLOCK,
    FRACTAL,
    Draw,
    Meaning,
    Memories,
    Memory,
    TransferRow,
    pick,
    span,
    up,
)
from lab.reference.vector_rows.element import NUMPY_TYPES


def _bursts(random: np.random.Generator) -> list[int]:
    """How many, how long, the gap behind each in the source and in the target."""
    return [span(random, 0, 6), span(random, 0, 9), pick(random, 0, 0, 1, 5), pick(random, 0, 0, 3)]


def _burst_copy(source: Memory, target: Memory, unit: int) -> Meaning:
    """Bursts of n[1] units, gaps in 32 bytes of the source and in units of the target."""

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        bytes_ = n[1] * unit
        for burst in range(n[0] if bytes_ else 0):
            start = burst * (bytes_ + n[2] * BLOCK)
            to = burst * (bytes_ + n[3] * unit)
            memory[target][to : to + bytes_] = memory[source][start : start + bytes_]

    return meaning


def _burst_rows() -> Iterator[TransferRow]:
    rows: tuple[tuple[str, Memory, Memory, int, str], ...] = (
        ("copy_gm_to_ubuf", "GM", "UB", 32, "((void*)ub, gm, 0, {n})"),
        ("copy_ubuf_to_gm", "UB", "OUT", 32, "(out, (void*)ub, 0, {n})"),
        ("copy_gm_to_cbuf", "GM", "L1", 32, "((void*)0, gm, 0, {n}, PAD_NONE)"),
        ("copy_cbuf_to_gm", "L1", "OUT", 32, "(out, (void*)0, 0, {n})"),
        ("copy_matrix_cbuf_to_cc", "L1", "L0C", 32, "((float*)0, (float*)0, {n})"),
        ("copy_cbuf_to_bt", "L1", "BIAS", 64, "(0, (void*)0, 0, {n})"),
        ("copy_cbuf_to_fbuf", "L1", "FIXBUF", 128, "((void*)0, (void*)0, {n})"),
    )
    for mnemonic, source, target, unit, call in rows:
        draw: Draw = _bursts if unit == 32 else _few_bursts
        yield TransferRow(
            mnemonic, "", "vector" if "UB" in (source, target) else "cube", (source,), target,
            mnemonic + call.format(n="n[0], n[1], n[2], n[3]") + ";", draw,
            _burst_copy(source, target, unit),
        )  # fmt: skip


def _few_bursts(random: np.random.Generator) -> list[int]:
    return [span(random, 0, 2), span(random, 0, 3), pick(random, 0, 2), pick(random, 0, 1)]


def _within_ub(memory: Memories, n: Sequence[int]) -> None:
    held = memory["UB"].copy()
    for burst in range(n[0] if n[1] else 0):
        start, to = burst * (n[1] + n[2]) * BLOCK, 16384 + burst * (n[1] + n[3]) * BLOCK
        memory["UB"][to : to + n[1] * BLOCK] = held[start : start + n[1] * BLOCK]


def _widen_bias(memory: Memories, n: Sequence[int]) -> None:
    for burst in range(n[0] if n[1] else 0):
        start, to = burst * (n[1] * 32 + n[2] * BLOCK), burst * (n[1] + n[3]) * 64
        values = memory["L1"][start : start + n[1] * 32].view(np.float16).astype(np.float32)
        memory["BIAS"][to : to + n[1] * 64] = values.view(np.uint8)


def _padded_load(size: int) -> Meaning:
    """n: bursts, bytes of one, left and right elements, gaps, 0, the padding value."""

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        value = np.array([n[7]], np.int64).view(np.uint8)[:size]
        taken = up(n[2] * size + n[1] + n[3] * size, BLOCK) * BLOCK
        for burst in range(n[0]):
            data = memory["GM"][burst * (n[1] + n[4]) :][: n[1]]
            place = memory["UB"][burst * (taken + n[5] * BLOCK) :][:taken]
            # Without padding the first element fills the block up; with it the value does.
            value_here = data[:size] if n[2] == 0 and n[3] == 0 else value
            place[: taken // size * size] = np.tile(value_here, taken // size)
            place[n[2] * size : n[2] * size + n[1]] = data
            rest = n[2] * size + n[1]
            rounded = rest + (taken - rest) // size * size
            place[rounded:] = memory["UB"][burst * (taken + n[5] * BLOCK) :][rounded:taken]

    return meaning


def _padded(size: int) -> Draw:
    def draw(random: np.random.Generator) -> list[int]:
        return [
            span(random, 1, 5), size * span(random, 1, 70), span(random, 0, BLOCK // size // 2),
            span(random, 0, BLOCK // size // 2), pick(random, 0, 0, 3, 17), pick(random, 0, 0, 2),
            0, span(random, -(2**62), 2**62),
        ]  # fmt: skip

    return draw


def _stored(memory: Memories, n: Sequence[int]) -> None:
    for burst in range(n[0]):
        data = memory["UB"][burst * (up(n[1], BLOCK) + n[4]) * BLOCK :][: n[1]]
        memory["OUT"][burst * (n[1] + n[5]) :][: n[1]] = data


def _to_nz(size: int) -> Meaning:
    """Rows become columns of fractals, blocks filled up with zeros. n: matrices, rows, columns,
    source strides of matrices and rows (elements), target strides of columns of fractals and rows
    (blocks), of matrices (elements)."""

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        c0 = BLOCK // size
        gm, l1 = memory["GM"], memory["L1"]
        for matrix, row in np.ndindex(n[0], n[1]):
            start = (matrix * n[3] + row * n[4]) * size
            for column in range(up(n[2], c0)):
                kept = min(c0, n[2] - column * c0) * size
                to = matrix * n[7] * size + (column * n[5] + row * n[6]) * BLOCK
                l1[to : to + BLOCK] = 0
                l1[to : to + kept] = gm[start + column * BLOCK :][:kept]

    return meaning


def _nz(size: int) -> Draw:
    def draw(random: np.random.Generator) -> list[int]:
        matrices, rows = span(random, 1, 2), span(random, 1, 20)
        columns = span(random, 1, 40)
        row_stride = columns + pick(random, 0, 0, 3)
        c0_stride = rows + pick(random, 0, 12)
        used = up(columns * size, BLOCK) * c0_stride * BLOCK // size
        return [matrices, rows, columns, rows * row_stride, row_stride, c0_stride, 1, used]

    return draw


def _filled(target: Memory, dtype: str) -> Meaning:
    """n: repeats, blocks of one, gap, the value's bits."""
    unit = BLOCK if target == "L1" else FRACTAL
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        value = np.array([n[3]], np.int64).view(np.uint8)[:size]
        for repeat in range(n[0]):
            start = repeat * (n[1] + n[2]) * unit
            memory[target][start : start + n[1] * unit] = np.tile(value, n[1] * unit // size)

    return meaning


def _fill_numbers(random: np.random.Generator) -> list[int]:
    return [span(random, 1, 4), span(random, 1, 5), pick(random, 0, 2), span(random, 0, 30000)]


def rows() -> Iterator[TransferRow]:
    """Every copy that changes no element."""
    yield from _burst_rows()
    yield TransferRow(
        "copy_ubuf_to_ubuf", "", "vector", ("UB",), "UB",
        "copy_ubuf_to_ubuf((void*)(ub + 16384), (void*)ub, 0, n[0], n[1], n[2], n[3]);", _bursts,
        _within_ub,
    )  # fmt: skip
    yield TransferRow(
        "copy_cbuf_to_bt", "half", "cube", ("L1",), "BIAS",
        "copy_cbuf_to_bt(0, (void*)0, 1, n[0], n[1], n[2], n[3]);", _few_bursts, _widen_bias,
        element="float",
    )  # fmt: skip
    for size, bits in ((1, "b8"), (2, "b16"), (4, "b32")):
        arguments = "0, n[0], n[1], n[2], n[3], n[4], n[5]"
        yield TransferRow(
            f"copy_gm_to_ubuf_align_{bits}", "", "vector", ("GM",), "UB",
            f"set_mov_pad_val(n[7]); copy_gm_to_ubuf_align_{bits}((void*)ub, gm, {arguments});",
            _padded(size), _padded_load(size),
        )  # fmt: skip
        yield TransferRow(
            f"copy_ubuf_to_gm_align_{bits}", "", "vector", ("UB",), "OUT",
            f"copy_ubuf_to_gm_align_{bits}(out, (void*)ub, 0, n[0], n[1], 0, 0, n[4], n[5]);",
            _padded(size), _stored,
        )  # fmt: skip
    for suffix, dtype in (("b8", "int8_t"), ("b16", "half"), ("b32s", "float")):
        size = np.dtype(NUMPY_TYPES[dtype]).itemsize
        numbers = ", ".join(f"n[{i}]" for i in range(8))
        yield TransferRow(
            f"copy_gm_to_cbuf_multi_nd2nz_{suffix}", dtype, "cube", ("GM",), "L1",
            f"copy_gm_to_cbuf_multi_nd2nz_{suffix}(({dtype}*)0, ({dtype}*)gm, 0, {numbers});",
            _nz(size), _to_nz(size),
        )  # fmt: skip
    targets: tuple[tuple[str, Memory], ...] = (("cbuf", "L1"), ("ca", "L0A"), ("cb", "L0B"))
    for word, target in targets:
        for dtype, value in (("uint16_t", "half_of(n[3])"), ("uint32_t", "(uint32_t)n[3]")):
            yield TransferRow(
                f"create_{word}_matrix", dtype, "cube", (), target,
                f"create_{word}_matrix(({dtype}*)0, n[0] | n[1] << 16 | n[2] << 32, {value});",
                _fill_numbers, _filled(target, dtype),
            )  # fmt: skip
