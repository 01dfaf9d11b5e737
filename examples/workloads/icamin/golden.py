import numpy as np


def icamin(x, n=0, incx=1):
    size = np.abs(x.real) + np.abs(x.imag)
    return np.array([np.argmin(size[: n * incx : incx]) + 1])
