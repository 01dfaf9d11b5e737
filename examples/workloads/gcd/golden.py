import numpy as np


def gcd(x1, x2):
    return np.gcd(x1, x2)
