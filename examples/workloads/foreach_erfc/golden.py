from scipy import special


def foreach_erfc(x):
    return [special.erfc(t) for t in x]
