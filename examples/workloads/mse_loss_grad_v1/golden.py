import numpy as np


def mse_loss_grad_v1(predict, label, dout, reduction="mean"):
    return (predict.astype(np.float64) - label) * 2.0 / predict.size * dout
