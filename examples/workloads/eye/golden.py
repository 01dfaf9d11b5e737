import numpy as np


def eye(y, num_rows, num_columns=0, batch_shape=(), dtype=0):
    one = np.eye(num_rows, num_columns or num_rows, dtype=y.dtype)
    return np.broadcast_to(one, y.shape)
