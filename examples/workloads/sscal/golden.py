import numpy as np


def sscal(x, alpha):
    return x.astype(np.float64) * alpha
