import numpy as np


def rms_norm(x, gamma, epsilon=1e-6):
    x = x.astype(np.float64)
    rstd = 1.0 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)
    return x * rstd * gamma, rstd
