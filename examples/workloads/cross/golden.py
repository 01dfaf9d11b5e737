import numpy as np


def cross(a, b):
    wide = np.int64 if a.dtype == np.int32 else np.float64
    return np.cross(a.astype(wide), b.astype(wide))
