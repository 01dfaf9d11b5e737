"""Windows of arrays in plain numpy: what the stand-in of PyTorch computes with, and the text of the
functions that are written from a trace."""

from __future__ import annotations

from typing import Any

import numpy as np


def windows(fold: Any, x: Any, size: Any, step: Any, pad: Any, fill: float) -> Any:
    """Folds of windows along the last axes, with `fill` around."""
    lead = x.ndim - len(size)
    x = np.pad(x, [(0, 0)] * lead + [(p, p) for p in pad], constant_values=fill)
    x = np.lib.stride_tricks.sliding_window_view(x, size, tuple(range(lead, x.ndim)))
    x = x[(slice(None),) * lead + tuple(slice(None, None, s) for s in step)]
    return fold(x, axis=tuple(range(-len(size), 0)))


def products(x: Any, weights: Any, step: Any, pad: Any, apart: Any) -> Any:
    """Sums of the windows of [N, G, C, …] by weights [G, O, C, …]: [N, G, O, 1, …]."""
    size = weights.shape[3:]
    x = np.pad(x, [(0, 0)] * 3 + [(p, p) for p in pad])
    room = zip(x.shape[3:], size, step, apart, strict=True)
    lengths = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in room]
    found: Any = 0.0
    for at in np.ndindex(*size):
        numbers = zip(at, lengths, step, apart, strict=True)
        seen = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in numbers)
        part = x[(slice(None),) * 3 + seen].reshape(*x.shape[:3], -1)
        found = found + np.matmul(weights[(slice(None),) * 3 + at], part)
    return found.reshape(*found.shape[:3], 1, *lengths)


def spread_products(x: Any, weights: Any, step: Any, pad: Any, apart: Any, more: Any) -> Any:
    """Sums over the windows of [N, G, O, 1, …] by weights [G, O, C, …] of elements of
    [N, G, C, …]; `more` longer than what windows reach."""
    size, lengths = weights.shape[3:], x.shape[3:]
    reached = [(n - 1) * s + 1 for n, s in zip(lengths, step, strict=True)]
    room = zip(reached, size, apart, more, strict=True)
    whole = [n + (k - 1) * d + m for n, k, d, m in room]
    found = np.zeros((*x.shape[:2], weights.shape[1], *whole))
    flat = x.reshape(*x.shape[:3], -1)
    for at in np.ndindex(*size):
        numbers = zip(at, apart, reached, step, strict=True)
        there = tuple(slice(k * d, k * d + n, s) for k, d, n, s in numbers)
        added = np.matmul(weights[(slice(None),) * 3 + at], flat)
        found[(slice(None),) * 3 + there] += added.reshape(*added.shape[:3], *lengths)
    inside = tuple(slice(p, n - p) for p, n in zip(pad, whole, strict=True))
    return found[(slice(None),) * 3 + inside][:, :, :, None]
