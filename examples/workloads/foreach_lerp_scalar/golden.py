def foreach_lerp_scalar(x1, x2, weight):
    return [a + weight.flat[0] * (b - a) for a, b in zip(x1, x2, strict=True)]
