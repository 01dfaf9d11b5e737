import numpy as np


def gelu(x):
    x = x.astype(np.float64)
    return x / (1.0 + np.exp(-1.595769122 * (x + 0.0455399241 * x**3)))
