import numpy as np


def global_avg_pool(x):
    return x.astype(np.float64).mean(axis=(2, 3), keepdims=True)
