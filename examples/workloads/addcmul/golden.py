import numpy as np


def addcmul(input_data, x1, x2, value):
    product = x1.astype(np.float64) * x2
    return input_data + product * float(value.flat[0])
