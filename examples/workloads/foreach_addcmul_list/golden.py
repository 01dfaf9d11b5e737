def foreach_addcmul_list(x1, x2, x3, scalars):
    return [a + b * c * s for a, b, c, s in zip(x1, x2, x3, scalars.ravel(), strict=True)]
