import numpy as np


def foreach_norm(x, scalar):
    order = int(scalar.flat[0])
    return [np.linalg.norm(t.astype(np.float64).ravel(), order).reshape(1) for t in x]
