import numpy as np


def foreach_log10(x):
    return [np.log10(t) for t in x]
