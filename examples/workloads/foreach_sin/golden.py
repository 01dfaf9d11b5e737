import numpy as np


def foreach_sin(x):
    return [np.sin(t) for t in x]
