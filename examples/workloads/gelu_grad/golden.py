import numpy as np


def gelu_grad(dy, x, y):
    v = x.astype(np.float64)
    inner = np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)
    t = np.tanh(inner)
    slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * v * v)
    return dy * (0.5 * (1 + t) + 0.5 * v * (1 - t * t) * slope)
