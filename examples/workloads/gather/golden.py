import numpy as np


def gather(x1, indices, **_):
    return np.take(x1, indices, axis=0)
