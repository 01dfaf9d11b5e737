"""Reference of upsample_bilinear2d: linear interpolation along the last two axes."""

import numpy as np


def weights(size: int, to: int, align_corners: bool) -> np.ndarray:
    """Row i holds what output i takes of each input."""
    i = np.arange(to)
    if align_corners:
        at = i * ((size - 1) / (to - 1)) if to > 1 else np.zeros(1)
    else:
        at = np.maximum((i + 0.5) * size / to - 0.5, 0)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = at - low
    table = np.zeros((to, size))
    table[i, low] += 1 - part
    table[i, high] += part
    return table


def upsample_bilinear2d(
    x: np.ndarray,
    size: np.ndarray,
    align_corners: bool = False,
    scales: tuple[float, ...] = (),
) -> np.ndarray:
    rows = weights(x.shape[-2], int(size[0]), align_corners)
    columns = weights(x.shape[-1], int(size[1]), align_corners)
    return (rows @ x.astype(np.float64) @ columns.T).astype(np.float32)
