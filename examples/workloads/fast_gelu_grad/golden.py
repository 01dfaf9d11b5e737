import numpy as np


def fast_gelu_grad(dy, x):
    v = x.astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-1.702 * v))
    return dy * sigmoid * (1 + 1.702 * v * (1 - sigmoid))
