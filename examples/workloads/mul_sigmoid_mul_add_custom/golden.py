import numpy as np


def mul_sigmoid_mul_add_custom(x, scale, factor, shift):
    sigmoid = 1 / (1 + np.exp(-x.astype(np.float64) * scale.astype(np.float64)))
    return sigmoid * factor + shift
