def reshape(x, shape, axis=0, num_axes=-1):
    kept = x.ndim - axis if num_axes == -1 else num_axes
    return x.reshape([*x.shape[:axis], *shape.tolist(), *x.shape[axis + kept :]])
