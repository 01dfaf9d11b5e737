import numpy as np


def foreach_log(x):
    return [np.log(t) for t in x]
