from scipy import special


def spence(x):
    return special.spence(x.astype("float64"))
