import numpy as np


def mse_loss(predict, label, reduction="mean"):
    error = np.square(predict.astype(np.float64) - label)
    return np.array([error.mean()])
