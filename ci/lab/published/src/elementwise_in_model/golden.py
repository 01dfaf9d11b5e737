"""Reference of elementwise_in_model."""

import numpy as np


def elementwise(x: np.ndarray, factor: np.ndarray, kind: int, cores: int) -> np.ndarray:
    """x times the factor, Relu of x, or x."""
    if kind == 1:
        return np.asarray(x * factor)
    return np.maximum(x, np.float32(0)) if kind == 2 else x
