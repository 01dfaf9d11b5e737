import numpy as np


def muls(x, value):
    return (x.astype(np.float64) * float(value.flat[0])).astype(x.dtype)
