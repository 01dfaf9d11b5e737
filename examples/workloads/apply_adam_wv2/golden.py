import numpy as np


def apply_adam_wv2(var, m, v, grad, step, max_grad_norm, lr, beta1, beta2, weight_decay, eps):
    x, g = var.astype(np.float64), grad.astype(np.float64)
    t = float(step.flat[0]) + 1
    first = m * beta1 + g * (1 - beta1)
    second = v * beta2 + g * g * (1 - beta2)
    x = x * (1 - lr * weight_decay)
    x = x - lr * (first / (1 - beta1**t)) / (np.sqrt(second / (1 - beta2**t)) + eps)
    return x, first, second
