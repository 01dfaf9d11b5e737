import numpy as np


def sasum(x, n=0, incx=1):
    return np.array([np.sum(np.abs(x[: n * incx : incx].astype(np.float64)))])
