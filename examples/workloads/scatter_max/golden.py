import numpy as np


def scatter_max(var, indices, updates, use_locking=False):
    result = var.copy()
    np.maximum.at(result, indices, updates)
    return result
