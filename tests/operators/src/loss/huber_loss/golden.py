"""Reference of huber_loss in double precision."""

import numpy as np


def huber_loss(x: np.ndarray, target: np.ndarray, delta: float = 1.0) -> np.ndarray:
    x = x.astype(np.float64)
    target = target.astype(np.float64)
    gap = np.abs(x - target)
    capped = np.minimum(gap, delta)
    return (capped * (gap - 0.5 * capped)).astype(np.float32)
