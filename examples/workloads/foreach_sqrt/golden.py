import numpy as np


def foreach_sqrt(x):
    return [np.sqrt(t) for t in x]
