import numpy as np


def log(x, base=-1.0, scale=1.0, shift=0.0):
    log_base = 1.0 if base == -1.0 else np.log(base)
    return np.log(x.astype(np.float64) * scale + shift) / log_base
