def foreach_neg(x):
    return [-t for t in x]
