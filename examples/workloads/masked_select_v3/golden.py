"""Reference of masked_select_v3; exact."""

import numpy as np


def masked_select(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return x[mask.astype(bool)]
