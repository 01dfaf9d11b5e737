"""Conversions with the scale (and offset) of the DEQSCALE register."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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

POSITIONS = 16
SCALE_BITS = np.uint32(0xFFFFE000)
"""Bits of a binary32 scale that a configuration holds."""


def _integers(kind: type[np.integer[Any]]) -> Prepare:
    def prepare(window: Window, _: Sequence[int], random: np.random.Generator) -> None:
        info = np.iinfo(kind)
        drawn = random.integers(info.min, info.max, 4096 // np.dtype(kind).itemsize, endpoint=True)
        small = random.integers(-300, 300, len(drawn))
        window.put(A, np.where(random.random(len(drawn)) < 0.5, small, drawn).astype(kind))
        scales = random.uniform(0.001, 0.5, POSITIONS)
        offsets = random.integers(-256, 256, POSITIONS)
        both = zip(scales, offsets, strict=True)
        window.put(B, np.array([_config(float(s), int(o)) for s, o in both], dtype=np.uint64))

    return prepare


def _config(scale: float, offset: int) -> int:
    """Scale and offset as set_deqscale takes them."""
    return int(np.float32(scale).view(np.uint32) & SCALE_BITS) | (offset & 0x1FF) << 37


def _scaled(window: Window, n: Sequence[int]) -> None:
    """n is repeat, two block strides, two repeat strides."""
    with np.errstate(all="ignore"):
        scale = np.float32(np.float16(window.scalar))
        for r, active in enumerate(window.active(64, n[0])):
            lanes = window.lanes("int32_t", A, 64, r, n[2], n[4]).astype(np.float32)
            results = (lanes * scale).astype(np.float16)
            for lane in np.flatnonzero(active):
                block, inside = divmod(int(lane) * 2, 32)
                to = DST + (r * n[3] + block * n[1]) * 32 + inside
                window.put(to, window.saturated(results[lane]))


def _dequantised(dtype: str, *, each: bool, upper: bool, added: bool = False) -> Meaning:
    """n is the one configuration, repeat; `added`: of the larger of src0 + src1 and 0."""
    low, high = (-128, 127) if dtype == "int8_t" else (0, 255)

    def meaning(window: Window, n: Sequence[int]) -> None:
        words = window.ub[B : B + 8 * POSITIONS].view(np.uint64)
        if not each:
            words = np.full(POSITIONS, n[0], dtype=np.uint64)
        scales = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
        offsets = (words >> np.uint64(37) & np.uint64(0x1FF)).astype(np.int64)
        offsets = np.where(offsets > 255, offsets - 512, offsets)
        for r, active in enumerate(window.active(128, n[1])):
            lanes = window.lanes("int16_t", A, 128, r, 1, 8)
            if added:
                lanes = np.maximum(lanes + window.lanes("int16_t", EXTRA, 128, r, 1, 8), 0)
            lanes = lanes.astype(np.float32)
            position = np.arange(128) % POSITIONS
            exact = lanes * scales[position] + offsets[position].astype(np.float32)
            results = np.clip(np.rint(exact), low, high).astype(np.int64)
            for lane in np.flatnonzero(active):
                to = DST + (r * 8 + int(lane) // 16) * 32 + 16 * upper + int(lane) % 16
                window.put(to, np.uint8(results[lane] & 255))

    return meaning


MEANINGS: Meanings = {
    "vconv_deq": lambda *_: _scaled,
    "vconv_deqs162b8{key}": lambda dtype, key: _dequantised(dtype, each=False, upper=key == "h"),
    "vconv_vdeqs162b8{key}": lambda dtype, key: _dequantised(dtype, each=True, upper=key == "h"),
    "vaddreluconv_vdeqs162b8": lambda dtype, key: _dequantised(
        dtype, each=True, upper=key == "1", added=True
    ),
}
OPERANDS: Operands = {
    "int32_t to scale": lambda _: _integers(np.int32),
    "int16_t to scale": lambda _: _integers(np.int16),
}
