import numpy as np


def add_rms_norm_cast(x1, x2, gamma, epsilon=1e-6):
    total = x1.astype(np.float64) + x2
    rstd = 1.0 / np.sqrt(np.mean(total * total, axis=-1, keepdims=True) + epsilon)
    normed = total * rstd * gamma
    return normed, normed, rstd, total
