import numpy as np


def upsample_nearest3d(x, output_size):
    for axis, size in enumerate(output_size, start=2):
        x = np.take(x, np.arange(size) * x.shape[axis] // size, axis=axis)
    return x
