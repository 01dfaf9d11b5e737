def foreach_copy(x):
    return list(x)
