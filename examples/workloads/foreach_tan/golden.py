import numpy as np


def foreach_tan(x):
    return [np.tan(t) for t in x]
