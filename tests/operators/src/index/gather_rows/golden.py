"""Reference of gather_rows; exact."""

import numpy as np


def gather_rows(table: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return table[indices.reshape(-1)]
