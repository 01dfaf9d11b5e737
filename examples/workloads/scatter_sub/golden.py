import numpy as np


def scatter_sub(var, indices, updates):
    out = var.copy()
    np.subtract.at(out, indices, updates)
    return out
