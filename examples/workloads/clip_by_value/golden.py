import numpy as np


def clip_by_value(x, clip_value_min, clip_value_max):
    return np.clip(x, clip_value_min.flat[0], clip_value_max.flat[0])
