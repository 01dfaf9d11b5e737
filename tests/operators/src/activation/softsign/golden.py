"""Reference of softsign in double precision."""

import numpy as np


def softsign(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return (x / (1.0 + np.abs(x))).astype(np.float32)
