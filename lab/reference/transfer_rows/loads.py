"""Fractals into L0A and L0B: as they lie, transposed, and image to column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lab.reference.transfer_rows.base import (
    BLOCK,
    FRACTAL,
    Array,
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

_TARGETS: tuple[tuple[str, Memory], ...] = (("ca", "L0A"), ("cb", "L0B"))


def _fractals(random: np.random.Generator) -> list[int]:
    """First fractal, how many, steps of the source, gap in the target, gap between parts."""
    return [span(random, 0, 3), span(random, 0, 4), span(random, 0, 3), span(random, 0, 2), 0]


def _backwards(random: np.random.Generator) -> list[int]:
    return [span(random, 12, 20), *_fractals(random)[1:]]


def _load(source: Memory, target: Memory, down: bool = False, turned: bool = False) -> Meaning:
    def meaning(memory: Memories, n: Sequence[int]) -> None:
        for repeat in range(n[1]):
            start = (n[0] + (-repeat if down else repeat) * n[2]) * FRACTAL
            data = memory[source][start : start + FRACTAL]
            if turned:
                data = data.view(np.uint16).reshape(16, 16).T.copy().view(np.uint8).reshape(-1)
            to = repeat * (n[3] + 1) * FRACTAL
            memory[target][to : to + FRACTAL] = data

    return meaning


def _square_parts(data: Array, bits: int) -> Array:
    """A square of elements transposed, as fractals of 16 rows of 32 bytes."""
    if bits == 4:
        values = np.stack([data & 15, data >> 4], axis=-1).reshape(64, 64).T
        packed = values[:, 0::2] | values[:, 1::2] << 4
        fractals: Array = packed.astype(np.uint8).reshape(4, FRACTAL)
        return fractals
    words = data.view(f"u{bits // 8}")
    if bits == 32:
        left, right = words.reshape(2, 16, 8)
        whole = np.hstack([left, right]).T
        halves: Array = np.stack([whole[:, :8], whole[:, 8:]])
        return halves.copy().view(np.uint8).reshape(2, FRACTAL)
    side = {16: 16, 8: 32}[bits]
    square: Array = words.reshape(side, side).T.copy()
    return square.view(np.uint8).reshape(-1, FRACTAL)


def _load_squares(target: Memory, bits: int) -> Meaning:
    parts = {4: 4, 8: 2, 16: 1, 32: 2}[bits]

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        piece = parts * FRACTAL
        for repeat in range(n[1]):
            start = (n[0] + repeat * n[2]) * piece
            data = _square_parts(memory["L1"][start : start + piece], bits)
            for part in range(parts):
                to = (repeat * (n[3] + 1) + part * (n[4] + 1)) * FRACTAL
                memory[target][to : to + FRACTAL] = data[part]

    return meaning


def _squares(bits: int) -> Draw:
    parts = {4: 4, 8: 2, 16: 1, 32: 2}[bits]

    def draw(random: np.random.Generator) -> list[int]:
        repeats = span(random, 0, 3)
        # Either the parts of a square follow each other, or the squares do.
        apart = (parts - 1, 0) if random.random() < 0.5 else (0, repeats - 1 if repeats else 0)
        return [span(random, 0, 2), repeats, span(random, 0, 2), *apart]

    return draw


def _image_matrix(l1: Array, n: Sequence[int], dtype: str) -> tuple[Array, int]:
    """Output pixels by (C1, filter row, filter column, C0), and C0."""
    element = NUMPY_TYPES[dtype]
    c0 = BLOCK // np.dtype(element).itemsize
    width, height = n[12] & 0xFFFF, n[12] >> 16 & 0xFFFF
    left, right, top, bottom = (n[12] >> shift & 0xFF for shift in (32, 40, 48, 56))
    c1 = up(n[11], c0)
    image = l1[: c1 * height * width * BLOCK].view(element).reshape(c1, height, width, c0)
    value = np.array([n[13]], np.int64).view(element)[0]
    edges = ((0, 0), (top, bottom), (left, right), (0, 0))
    padded = np.pad(image, edges, constant_values=value)
    columns = []
    out_height = (padded.shape[1] - (n[7] - 1) * n[9] - 1) // n[5] + 1
    out_width = (padded.shape[2] - (n[6] - 1) * n[8] - 1) // n[4] + 1
    for channel, y, x in np.ndindex(c1, n[7], n[6]):
        part = padded[channel, y * n[9] :, x * n[8] :]
        taken = part[:: n[5], :: n[4]][:out_height, :out_width]
        columns.append(taken.reshape(-1, c0))
    return np.hstack(columns), c0


def _image(target: Memory, dtype: str) -> Meaning:
    """n: extensions in k and m, starts, strides, filter, dilation (width first), transpose,
    channels, the feature map's register, the padding's bits."""
    element = NUMPY_TYPES[dtype]

    def meaning(memory: Memories, n: Sequence[int]) -> None:
        matrix, c0 = _image_matrix(memory["L1"], n, dtype)
        value = np.array([n[13]], np.int64).view(element)[0]
        depth = up(n[0], c0) * c0
        wanted = np.full((n[1], depth), value, element)
        part = matrix[n[3] : n[3] + n[1], n[2] : n[2] + depth]
        wanted[: part.shape[0], : part.shape[1]] = part
        place = memory[target].view(element)
        turned = target == "L0B" or bool(n[10])
        k_blocks = up(n[0], 16 if turned else c0)
        m_blocks = up(up(n[1], 16) * 16, c0)
        m, k = np.indices(wanted.shape)
        if not turned:
            at = ((m // 16 * k_blocks + k // c0) * 16 + m % 16) * c0 + k % c0
        elif target == "L0A":
            at = ((k // 16 * m_blocks + m // c0) * 16 + k % 16) * c0 + m % c0
        else:
            at = ((m // c0 * k_blocks + k // 16) * 16 + k % 16) * c0 + m % c0
        place[at.reshape(-1)] = wanted.reshape(-1)

    return meaning


def _convolution(dtype: str, may_turn: bool) -> Draw:
    c0 = BLOCK // np.dtype(NUMPY_TYPES[dtype]).itemsize

    def draw(random: np.random.Generator) -> list[int]:
        sizes = [span(random, 5, 7) | span(random, 5, 7) << 16]
        pads = sum(span(random, 0, 2) << shift for shift in (32, 40, 48, 56))
        unit = max(c0, 16)
        return [
            unit * span(random, 1, 3), span(random, 1, 40), c0 * span(random, 0, 2),
            span(random, 0, 9), span(random, 1, 2), span(random, 1, 2), span(random, 1, 3),
            span(random, 1, 3), span(random, 1, 2), span(random, 1, 2),
            int(may_turn and random.random() < 0.5), span(random, 1, 2 * c0), sizes[0] | pads,
            pick(random, 0, 0, 77),
        ]  # fmt: skip

    return draw


def _image_rows() -> Iterator[TransferRow]:
    for word, target in _TARGETS:
        for dtype in ("half", "bfloat16_t", "float", "int8_t"):
            if dtype == "int8_t" and target == "L0B":
                continue  # it does not transpose bytes
            numbers = ", ".join(f"n[{i}]" for i in range(10))
            yield TransferRow(
                f"img2colv2_cbuf_to_{word}", dtype, "cube", ("L1",), target,
                f"set_fmatrix(n[12]); set_padding(n[13]); img2colv2_cbuf_to_{word}(({dtype}*)0, "
                f"({dtype}*)0, {numbers}, false, false, n[10], false, n[11]);",
                _convolution(dtype, target == "L0A" and dtype != "int8_t"), _image(target, dtype),
            )  # fmt: skip


def rows() -> Iterator[TransferRow]:
    """Every way into L0A and L0B."""
    arguments = "n[0], n[1], n[2], n[3], 0"
    sources: tuple[tuple[str, Memory], ...] = (("cbuf", "L1"), *_TARGETS)
    for word, target in sources:
        for mode, draw in (("inc", _fractals), ("dec", _backwards)):
            yield TransferRow(
                f"load_gm_to_{word}", mode, "cube", ("GM",), target,
                f"load_gm_to_{word}((half*)0, (half*)gm, {arguments}, {mode});", draw,
                _load("GM", target, down=mode == "dec"),
            )  # fmt: skip
    for word, target in _TARGETS:
        for dtype, suffix in (("int8_t", ""), ("half", ""), ("float", ""), ("void", "_s4")):
            for turned in (False, True) if dtype == "half" else (False,):
                yield TransferRow(
                    f"load_cbuf_to_{word}{suffix}", f"{dtype}{' turned' if turned else ''}", "cube",
                    ("L1",), target,
                    f"load_cbuf_to_{word}{suffix}(({dtype}*)0, ({dtype}*)0, {arguments}, "
                    f"{str(turned).lower()}, inc);",
                    _fractals, _load("L1", target, turned=turned),
                )  # fmt: skip
        for dtype, bits in (("int8_t", 8), ("half", 16), ("float", 32), ("void", 4)):
            if bits == 4 and target == "L0A":
                continue
            yield TransferRow(
                f"load_cbuf_to_{word}_transpose{'_s4' if bits == 4 else ''}", dtype, "cube",
                ("L1",), target,
                f"load_cbuf_to_{word}_transpose{'_s4' if bits == 4 else ''}(({dtype}*)0, "
                f"({dtype}*)0, n[0], n[1], n[2], n[3], inc, n[4]);",
                _squares(bits), _load_squares(target, bits),
            )  # fmt: skip
    yield from _image_rows()
