import numpy as np


def swi_glu_grad(dy, x):
    gate, up = np.split(x.astype(np.float64), 2, axis=-1)
    sigmoid = 1 / (1 + np.exp(-gate))
    slope = sigmoid + gate * sigmoid * (1 - sigmoid)
    return np.concatenate([dy * up * slope, dy * gate * sigmoid], axis=-1)
