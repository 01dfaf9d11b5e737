import numpy as np


def apply_fused_ema_adam(
    grad, var, m, v, s, step, lr, ema_decay, beta1, beta2, eps, mode, bias_correction, weight_decay
):
    g, x = grad.astype(np.float64), var.astype(np.float64)
    t = float(step.flat[0]) if bias_correction else np.inf
    if mode == 0:
        g = g + weight_decay * x
    first = beta1 * m + (1 - beta1) * g
    second = beta2 * v + (1 - beta2) * g * g
    update = first / (1 - beta1**t) / (np.sqrt(second / (1 - beta2**t)) + eps)
    if mode == 1:
        update = update + weight_decay * x
    x = x - lr * update
    return x, first, second, ema_decay * s + (1 - ema_decay) * x
