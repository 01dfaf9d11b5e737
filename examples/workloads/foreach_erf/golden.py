from scipy import special


def foreach_erf(x):
    return [special.erf(t) for t in x]
