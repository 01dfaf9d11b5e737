import numpy as np


def scnrm2(x, n=0, incx=1):
    return np.array([np.linalg.norm(x[: n * incx : incx].astype(np.complex128))])
