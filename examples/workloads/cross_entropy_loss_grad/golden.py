import numpy as np


def cross_entropy_loss_grad(grad_loss, log_prob, target, weight, grad_zloss, lse_for_zloss, **_):
    """Mean reduction without weights, smoothing or ignored targets."""
    gradient = np.exp(log_prob.astype(np.float64))
    gradient[np.arange(target.size), target] -= 1
    return gradient * float(grad_loss.flat[0]) / target.size
