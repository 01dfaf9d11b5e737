import numpy as np


def lin_space(start, stop, num):
    return np.linspace(float(start.flat[0]), float(stop.flat[0]), int(num.flat[0]))
