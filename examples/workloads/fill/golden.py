import numpy as np


def fill(dims, value):
    return np.full(tuple(int(d) for d in dims), value.flat[0])
