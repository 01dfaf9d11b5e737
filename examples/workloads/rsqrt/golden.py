import numpy as np


def rsqrt(x):
    return 1.0 / np.sqrt(x)
