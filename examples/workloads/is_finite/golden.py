import numpy as np


def is_finite(x):
    return np.isfinite(x)
