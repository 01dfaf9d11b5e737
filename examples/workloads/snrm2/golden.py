import numpy as np


def snrm2(x, n=0, incx=1):
    return np.array([np.sqrt(np.sum(np.square(x[: n * incx : incx].astype(np.float64))))])
