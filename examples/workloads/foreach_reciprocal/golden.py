def foreach_reciprocal(x):
    return [1.0 / t for t in x]
