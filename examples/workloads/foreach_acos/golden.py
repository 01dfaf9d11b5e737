import numpy as np


def foreach_acos(x):
    return [np.arccos(t) for t in x]
