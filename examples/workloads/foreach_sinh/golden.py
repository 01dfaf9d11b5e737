import numpy as np


def foreach_sinh(x):
    return [np.sinh(t) for t in x]
