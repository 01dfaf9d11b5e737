import numpy as np


def expand_v2(x, shape):
    return np.broadcast_to(x, shape)
