import numpy as np


def foreach_sigmoid(x):
    return [1.0 / (1.0 + np.exp(-t.astype(np.float64))) for t in x]
