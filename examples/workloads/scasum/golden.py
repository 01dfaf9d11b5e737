import numpy as np


def scasum(x, n=0, incx=1):
    used = x[: n * incx : incx].astype(np.complex128)
    return np.array([np.abs(used.real).sum() + np.abs(used.imag).sum()])
