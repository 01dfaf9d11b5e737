import numpy as np


def abs(x):
    return np.abs(x)
