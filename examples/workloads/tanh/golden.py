import numpy as np


def tanh(x):
    return np.tanh(x.astype(np.float64))
