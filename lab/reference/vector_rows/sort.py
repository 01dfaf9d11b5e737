"""Sorting into (score, index) pairs, and merging of sorted lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.reference.vector_rows.element import NUMPY_TYPES, Array
from lab.reference.vector_rows.window import (
    DST,
    A,
    B,
    Meaning,
    Meanings,
    Operands,
    Prepare,
    Window,
)

LIST_BYTES = 1024


def _scores(dtype: str, count: int, random: np.random.Generator) -> Array:
    drawn = random.integers(-9, 9, count).astype(np.float64)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
    share = random.choice([0.0, 0.2])
    drawn = np.where(random.random(count) < share, random.choice(special, count), drawn)
    return drawn.astype(NUMPY_TYPES[dtype])


def _order(scores: Array) -> list[int]:
    """Descending and stable, NaN first."""
    wide = [float(s) for s in scores]
    key = [(0.0, 0.0) if np.isnan(score) else (1.0, -score) for score in wide]
    return sorted(range(len(wide)), key=key.__getitem__)


def _pair(window: Window, offset: int, score: Any, index: int) -> None:
    window.put(offset, np.zeros(8, dtype=np.uint8))
    window.put(offset, score)
    window.put(offset + 4, np.uint32(index))


def _unsorted(dtype: str) -> Prepare:
    def prepare(window: Window, _: Sequence[int], random: np.random.Generator) -> None:
        window.put(A, _scores(dtype, 96, random))
        window.put(B, random.integers(0, 2**32, 96, dtype=np.uint32))

    return prepare


def _sort(dtype: str) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        scores, indices = window.get(dtype, A, 96), window.get("uint32_t", B, 96)
        for r in range(n[0]):
            part = slice(r * 32, (r + 1) * 32)
            for place, i in enumerate(_order(scores[part])):
                to = DST + (r * 32 + place) * 8
                _pair(window, to, scores[part][i], int(indices[part][i]))

    return meaning


def _sorted_lists(dtype: str) -> Prepare:
    """Four lists behind A, 1024 bytes apart; n is their lengths, how many count, suspend."""

    def prepare(window: Window, n: Sequence[int], random: np.random.Generator) -> None:
        for number in range(4):
            scores = _scores(dtype, n[number], random)
            for place, i in enumerate(_order(scores)):
                _pair(window, A + number * LIST_BYTES + place * 8, scores[i], 1000 * number + place)

    return prepare


def _merge(dtype: str) -> Meaning:
    def meaning(window: Window, n: Sequence[int]) -> None:
        valid, suspend, kind = n[4], n[5], np.dtype(NUMPY_TYPES[dtype])
        lists = [window.get("uint8_t", A + k * LIST_BYTES, n[k] * 8) for k in range(valid)]
        taken, to = [0] * valid, DST
        while True:
            left = [k for k in range(valid) if taken[k] < n[k]]
            if not left or (suspend and len(left) < valid):
                break
            heads = np.array(
                [lists[k][taken[k] * 8 :][: kind.itemsize].view(kind)[0] for k in left]
            )
            best = left[_order(heads)[0]]
            window.put(to, lists[best][taken[best] * 8 :][:8])
            taken[best] += 1
            to += 8
        window.left["merged"] = sum(count << 16 * k for k, count in enumerate(taken))

    return meaning


MEANINGS: Meanings = {
    "vbitsort": lambda dtype, _: _sort(dtype),
    "vmrgsort4": lambda dtype, _: _merge(dtype),
}
OPERANDS: Operands = {"scores and indices": _unsorted, "sorted lists": _sorted_lists}
