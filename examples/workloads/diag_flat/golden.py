import numpy as np


def diag_flat(x, diagonal=0):
    return np.diagflat(x, diagonal)
