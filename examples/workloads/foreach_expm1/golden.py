import numpy as np


def foreach_expm1(x):
    return [np.expm1(t) for t in x]
