def add_custom(x, y):
    return x + y
