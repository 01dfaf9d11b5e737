import numpy as np


def mul_sigmoid(x, weight, t1, t2, t3):
    s = 1 / (1 + np.exp(-x.astype(np.float64) * t1))
    y = np.where(s < t2, s, 2 * s) * weight.reshape(1, -1) * t3
    return y.reshape(len(x), *weight.shape[1:])
