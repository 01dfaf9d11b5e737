"""Reference of tiled_add."""

import numpy as np


def add(x: np.ndarray, bias: np.ndarray, version: int) -> np.ndarray:
    """The sum, rounded once as the vector unit does; the versions differ in time only."""
    total: np.ndarray = x + bias
    return total
