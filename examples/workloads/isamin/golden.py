import numpy as np


def isamin(x, n=0, incx=1):
    return np.array([np.argmin(np.abs(x[: n * incx : incx])) + 1])
