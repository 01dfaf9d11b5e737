import numpy as np


def ge_glu_v3(x, dim=-1, approximate=1, activate_left=False):
    value, gate = np.split(x.astype(np.float64), 2, axis=dim)
    if activate_left:
        value, gate = gate, value
    cubic = np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)
    activated = 0.5 * gate * (1 + np.tanh(cubic))
    return value * activated, activated
