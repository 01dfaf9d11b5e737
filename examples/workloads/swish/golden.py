import numpy as np


def swish(x, scale=1.0):
    x = x.astype(np.float64)
    return x / (1.0 + np.exp(-scale * x))
