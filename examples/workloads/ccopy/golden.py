def ccopy(x, n=0, incx=1, incy=1):
    return x
