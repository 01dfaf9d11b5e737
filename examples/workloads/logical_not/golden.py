import numpy as np


def logical_not(x):
    return np.logical_not(x)
