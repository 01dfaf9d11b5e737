import numpy as np


def mul_mul_reduce_mean_d_twice(a, b, factor, epsilon, gamma, beta):
    x = a.astype(np.float64) * b * factor
    mean = x.mean(axis=1, keepdims=True)
    scale = gamma / np.sqrt(np.square(x - mean).mean(axis=1, keepdims=True) + epsilon)
    return beta + scale * (x - mean)
