import numpy as np


def icamax(x, n=0, incx=1):
    size = np.abs(x.real) + np.abs(x.imag)
    return np.array([np.argmax(size[: n * incx : incx]) + 1])
