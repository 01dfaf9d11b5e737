import numpy as np


def cross_entropy_loss(x, target, weight, reduction="mean"):
    v = x.astype(np.float64)
    v = v - v.max(axis=1, keepdims=True)
    log_prob = v - np.log(np.exp(v).sum(axis=1, keepdims=True))
    w = weight.astype(np.float64)[target]
    loss = -log_prob[np.arange(len(target)), target] * w
    return np.array([loss.sum() / w.sum()]), log_prob, np.zeros(1), np.zeros(len(target))
