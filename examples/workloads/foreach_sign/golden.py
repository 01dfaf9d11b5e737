import numpy as np


def foreach_sign(x):
    return [np.sign(t) for t in x]
