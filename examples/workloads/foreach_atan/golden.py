import numpy as np


def foreach_atan(x):
    return [np.arctan(t) for t in x]
