import numpy as np


def tril(x, diagonal=0):
    return np.tril(x, diagonal)
