import numpy as np


def foreach_abs(x):
    return [np.abs(t) for t in x]
