import numpy as np


def heaviside(x, y):
    return np.heaviside(x, y)
