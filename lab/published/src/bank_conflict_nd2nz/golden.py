"""Reference of bank_conflict_nd2nz."""

import numpy as np

C0 = 16


def columns_of_blocks(x: np.ndarray, version: int) -> np.ndarray:
    """Columns of 16 elements, one after the other, all rows each."""
    return x.reshape(x.shape[0], -1, C0).transpose(1, 0, 2)
