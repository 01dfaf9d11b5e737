import numpy as np


def foreach_log2(x):
    return [np.log2(t) for t in x]
