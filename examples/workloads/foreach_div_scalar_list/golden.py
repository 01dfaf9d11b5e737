def foreach_div_scalar_list(x, scalars):
    return [t / s for t, s in zip(x, scalars.ravel(), strict=True)]
