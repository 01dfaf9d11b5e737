import numpy as np


def lerp(start, end, weight):
    start = start.astype(np.float64)
    return start + weight * (end - start)
