import numpy as np


def foreach_log1p(x):
    return [np.log1p(t) for t in x]
