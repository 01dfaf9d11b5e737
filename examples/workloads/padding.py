"""References of the gradients of padding: what was copied into the margin is added back."""

from __future__ import annotations

import numpy as np


def _folded(grad: np.ndarray, pads: np.ndarray, mode: str) -> np.ndarray:
    """`pads` holds (before, after) for the last axes; `mode` is that of numpy's pad."""
    result = grad.astype(np.float64)
    for axis, (low, high) in zip(range(-len(pads), 0), pads, strict=True):
        size = result.shape[axis] - low - high
        moved = np.moveaxis(result, axis, 0)
        folded = np.zeros((size, *moved.shape[1:]))
        np.add.at(folded, np.pad(np.arange(size), (low, high), mode=mode), moved)
        result = np.moveaxis(folded, 0, axis)
    return result


def circular_pad_grad(x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    return _folded(x, paddings.reshape(-1, 2), "wrap")


def reflected(x: np.ndarray, paddings: np.ndarray, **rest: object) -> np.ndarray:
    return _folded(x, paddings.reshape(-1, 2), "reflect")


def replicated(x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    return _folded(x, paddings.reshape(-1, 2), "edge")
