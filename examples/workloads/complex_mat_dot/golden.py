"""Reference of complex_mat_dot: the product of two matrices, element by element."""

import numpy as np


def complex_mat_dot(x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
    return x * y
