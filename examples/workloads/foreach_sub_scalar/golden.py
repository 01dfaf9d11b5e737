def foreach_sub_scalar(x, scalar):
    return [t - scalar.flat[0] for t in x]
