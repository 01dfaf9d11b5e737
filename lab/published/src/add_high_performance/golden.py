"""Reference of add_high_performance."""

import numpy as np


def add(x: np.ndarray, y: np.ndarray, version: int) -> np.ndarray:
    """The sum, rounded once as the vector unit does; the versions differ in time only."""
    total: np.ndarray = x + y
    return total
