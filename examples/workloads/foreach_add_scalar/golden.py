def foreach_add_scalar(x, scalar):
    return [t + scalar.flat[0] for t in x]
