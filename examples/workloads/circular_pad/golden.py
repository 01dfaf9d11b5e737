import numpy as np


def circular_pad(x, paddings):
    top, bottom, left, right = (int(p) for p in paddings)
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), mode="wrap")
