from scipy import special


def dawsn(x):
    return special.dawsn(x.astype("float64"))
