import numpy as np


def foreach_asin(x):
    return [np.arcsin(t) for t in x]
