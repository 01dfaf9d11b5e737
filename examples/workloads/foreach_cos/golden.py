import numpy as np


def foreach_cos(x):
    return [np.cos(t) for t in x]
