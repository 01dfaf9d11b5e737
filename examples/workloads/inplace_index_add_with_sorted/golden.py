import numpy as np


def inplace_index_add_with_sorted(var, value, sorted_indices, pos, alpha):
    out = var.astype(np.float64)
    np.add.at(out, sorted_indices, value[pos].astype(np.float64) * alpha.flat[0])
    return out.astype(np.int32) if var.dtype == np.int32 else out
