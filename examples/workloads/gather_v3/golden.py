import numpy as np


def gather_v3(x, indices, axis):
    return np.take(x, indices, axis=int(axis.flat[0]))
