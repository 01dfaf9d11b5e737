import numpy as np


def logical_or(x1, x2):
    return np.logical_or(x1, x2)
