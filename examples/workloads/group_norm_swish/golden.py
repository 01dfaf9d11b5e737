import numpy as np


def group_norm_swish(x, gamma, beta, num_groups):
    batch, channels = x.shape[:2]
    v = x.astype(np.float64).reshape(batch, num_groups, -1)
    mean = v.mean(axis=-1)
    rstd = 1 / np.sqrt(v.var(axis=-1) + 1e-5)
    z = ((v - mean[..., None]) * rstd[..., None]).reshape(batch, channels, -1)
    z = z * gamma[:, None] + beta[:, None]
    return (z / (1 + np.exp(-z))).reshape(x.shape), mean, rstd
