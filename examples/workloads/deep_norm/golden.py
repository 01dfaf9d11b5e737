import numpy as np


def deep_norm(x, gx, beta, gamma, alpha=0.3, epsilon=1e-6):
    total = x.astype(np.float64) * alpha + gx
    mean = total.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(total.var(axis=-1, keepdims=True) + epsilon)
    return mean, rstd, (total - mean) * rstd * gamma + beta
