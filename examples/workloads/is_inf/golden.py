import numpy as np


def is_inf(x):
    return np.isinf(x)
