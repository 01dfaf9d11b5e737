"""Reference of foreach_scale_add: lists in, list out; in double precision."""

import numpy as np


def foreach_scale_add(
    x: list[np.ndarray], z: list[np.ndarray], alpha: float = 1.0
) -> list[np.ndarray]:
    return [
        (a.astype(np.float64) * alpha + b.astype(np.float64)).astype(a.dtype)
        for a, b in zip(x, z, strict=True)
    ]
