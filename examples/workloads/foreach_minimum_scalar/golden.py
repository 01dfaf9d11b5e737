import numpy as np


def foreach_minimum_scalar(x, scalar):
    return [np.minimum(t, scalar.flat[0]) for t in x]
