import numpy as np


def kl_div_target_backward(grad_output, x, target, log_target=False):
    t = target.astype(np.float64)
    if log_target:
        return grad_output * (t + 1 - x) * np.exp(t)
    return grad_output * (np.log(t) + 1 - x)
