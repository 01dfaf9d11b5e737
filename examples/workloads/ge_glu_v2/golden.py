import numpy as np


def ge_glu_v2(x):
    value, gate = np.split(x.astype(np.float64), 2, axis=-1)
    cubic = np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)
    activated = 0.5 * gate * (1 + np.tanh(cubic))
    return value * activated, activated
