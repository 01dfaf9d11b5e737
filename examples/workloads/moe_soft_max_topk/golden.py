import numpy as np


def moe_soft_max_topk(x, k):
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    order = np.argsort(-x, axis=-1, kind="stable")[:, :k]
    share = np.take_along_axis(e / e.sum(axis=-1, keepdims=True), order, axis=-1)
    return share, order.astype(np.int32)
