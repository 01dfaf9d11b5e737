import numpy as np


def group_quant(x, scale, group_index, offset):
    group = np.searchsorted(group_index, np.arange(len(x)), side="right")
    y = x.astype(np.float32) * scale.astype(np.float32)[group] + offset.astype(np.float32)
    return np.clip(np.rint(y), -128, 127).astype(np.int8)
