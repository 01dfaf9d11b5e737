import numpy as np


def neg(x):
    return -x
