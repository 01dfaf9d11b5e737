import numpy as np


def scale_shift(x):
    return (x * np.float32(2) + np.float32(1)).astype(np.float32)
