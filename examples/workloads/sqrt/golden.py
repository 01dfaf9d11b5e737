import numpy as np


def sqrt(x):
    return np.sqrt(x)
