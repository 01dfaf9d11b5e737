def foreach_addcdiv_scalar(x1, x2, x3, scalar):
    return [a + b / c * scalar.flat[0] for a, b, c in zip(x1, x2, x3, strict=True)]
