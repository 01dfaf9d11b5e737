import numpy as np


def swi_glu(x, dim=-1):
    gate, value = np.split(x.astype(np.float64), 2, axis=dim)
    return gate / (1.0 + np.exp(-gate)) * value
