import numpy as np


def mse_loss(predict, label, reduction="mean"):
    square = np.square(predict.astype(np.float64) - label)
    if reduction == "none":
        return square
    return np.array([square.mean() if reduction == "mean" else square.sum()])
