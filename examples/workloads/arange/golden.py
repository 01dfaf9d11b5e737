import numpy as np


def arange(start, end, step):
    return np.arange(start.flat[0], end.flat[0], step.flat[0])
