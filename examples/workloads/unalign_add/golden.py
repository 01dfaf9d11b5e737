import numpy as np


def unalign_add(x, y):
    return x + y
