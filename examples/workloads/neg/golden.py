def neg(x):
    return -x
