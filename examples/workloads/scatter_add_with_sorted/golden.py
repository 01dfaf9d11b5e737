import numpy as np


def scatter_add_with_sorted(var, value, sorted_index, pos):
    out = var.astype(np.float64)
    np.add.at(out, sorted_index, value[pos].astype(np.float64))
    return out.astype(np.int32) if var.dtype == np.int32 else out
