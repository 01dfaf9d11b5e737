import numpy as np


def scatter_sub(var, indices, updates, use_locking=False):
    result = var.copy()
    np.subtract.at(result, indices, updates)
    return result
