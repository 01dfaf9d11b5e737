import numpy as np


def foreach_exp(x):
    return [np.exp(t) for t in x]
