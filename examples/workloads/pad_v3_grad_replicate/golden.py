import numpy as np


def pad_v3_grad_replicate(x, paddings):
    pads = paddings.reshape(-1, 2)
    y = x.astype(np.float64)
    for axis, (low, high) in enumerate(pads):
        size = y.shape[axis] - low - high
        index = np.clip(np.arange(y.shape[axis]) - low, 0, size - 1)
        moved = np.moveaxis(y, axis, 0)
        folded = np.zeros((size, *moved.shape[1:]))
        np.add.at(folded, index, moved)
        y = np.moveaxis(folded, 0, axis)
    return y
