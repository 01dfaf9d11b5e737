import numpy as np


def foreach_pow_scalar_and_tensor(scalar, x):
    return [np.power(scalar.flat[0], t) for t in x]
