import numpy as np


def foreach_maximum_scalar(x, scalar):
    return [np.maximum(t, scalar.flat[0]) for t in x]
