import numpy as np


def isamax(x, n=0, incx=1):
    return np.array([np.argmax(np.abs(x[: n * incx : incx])) + 1])
