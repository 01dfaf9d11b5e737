import numpy as np


def rms_norm_grad(dy, x, rstd, gamma):
    dy, x, rstd = (v.astype(np.float64) for v in (dy, x, rstd))
    normed = x * rstd
    scaled = dy * gamma
    mean = np.mean(scaled * normed, axis=-1, keepdims=True)
    return rstd * (scaled - normed * mean), (dy * normed).sum(0)
