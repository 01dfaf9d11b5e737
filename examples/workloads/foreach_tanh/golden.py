import numpy as np


def foreach_tanh(x):
    return [np.tanh(t) for t in x]
