def foreach_add_list(x1, x2, alpha):
    return [a + b * alpha.flat[0] for a, b in zip(x1, x2, strict=True)]
