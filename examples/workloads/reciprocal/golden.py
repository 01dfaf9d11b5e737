def reciprocal(x):
    return 1.0 / x
