"""Reference of reduce_256."""

import numpy as np


def total(x: np.ndarray, kind: int, times: int) -> np.ndarray:
    """The sum of x."""
    return np.asarray([x.sum()], dtype=np.float32)
