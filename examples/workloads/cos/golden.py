import numpy as np


def cos(x):
    return np.cos(x.astype(np.float64))
