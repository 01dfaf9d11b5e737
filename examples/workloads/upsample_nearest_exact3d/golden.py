import numpy as np


def upsample_nearest_exact3d(x, output_size):
    for axis, size in enumerate(output_size, start=2):
        source = np.floor((np.arange(size) + 0.5) * x.shape[axis] / size).astype(int)
        x = np.take(x, np.minimum(source, x.shape[axis] - 1), axis=axis)
    return x
