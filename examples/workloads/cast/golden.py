def cast(x):
    return x
