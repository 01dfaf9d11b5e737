import numpy as np


def xlogy(x1, x2):
    return x1 * np.log(x2.astype(np.float64))
