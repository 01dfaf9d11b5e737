import numpy as np


def addcdiv(input_data, x1, x2, value):
    quotient = x1.astype(np.float64) / x2
    return input_data + quotient * float(value.flat[0])
