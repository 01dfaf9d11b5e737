"""Reference of complex_mat_mul: batched complex products with an optional bias."""

import numpy as np


def complex_mat_mul(x: np.ndarray, y: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    z = x.astype(np.complex128) @ y.astype(np.complex128)
    return (z if bias is None else z + bias).astype(np.complex64)
