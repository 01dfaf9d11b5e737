"""Reference of matmul_basic_api: A times the transpose of B."""

import numpy as np


def product(a: np.ndarray, b: np.ndarray, version: int) -> np.ndarray:
    """In binary32, which the tolerance of half results allows for sums of 8192 terms."""
    return (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
