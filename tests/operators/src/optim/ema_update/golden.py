"""Reference of ema_update in double precision."""

import numpy as np


def ema_update(
    average: np.ndarray, x: np.ndarray, decay: float = 0.99, rest: float = 0.01
) -> np.ndarray:
    average = average.astype(np.float64)
    x = x.astype(np.float64)
    return (decay * average + rest * x).astype(np.float32)
