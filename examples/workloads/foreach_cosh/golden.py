import numpy as np


def foreach_cosh(x):
    return [np.cosh(t) for t in x]
