import numpy as np


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    log_base = 1.0 if base == -1.0 else np.log(base)
    return np.exp((x.astype(np.float64) * scale + shift) * log_base)
