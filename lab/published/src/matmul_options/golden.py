"""Reference of matmul_options."""

import numpy as np


def matmul(a: np.ndarray, b: np.ndarray, version: int) -> np.ndarray:
    """The exact product; the versions differ in time only."""
    product: np.ndarray = a.astype(np.float64) @ b.astype(np.float64)
    return product
