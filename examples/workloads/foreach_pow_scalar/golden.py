import numpy as np


def foreach_pow_scalar(x, scalar):
    return [np.power(t, scalar.flat[0]) for t in x]
