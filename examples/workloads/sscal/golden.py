def sscal(x, alpha, n, incx):
    return x * alpha
