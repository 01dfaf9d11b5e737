"""Reference of round_to_int4; exact."""

import numpy as np


def round_to_int4(x: np.ndarray, scale: float) -> np.ndarray:
    scaled = (x.astype(np.float16) * np.float16(scale)).astype(np.float16)
    return np.clip(np.rint(scaled), -8, 7).astype(np.int8)
