def foreach_mul_list(x1, x2):
    return [a * b for a, b in zip(x1, x2, strict=True)]
