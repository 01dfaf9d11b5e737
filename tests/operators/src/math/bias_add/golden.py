"""Reference of bias_add; fp16 is added in double and rounded once."""

import numpy as np


def bias_add(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    if x.dtype == np.int32:
        return x + bias
    return (x.astype(np.float64) + bias.astype(np.float64)).astype(x.dtype)
