def strided_slice_assign_v2(var, input_value, begin, end, strides, axes):
    out = var.copy()
    where = [slice(None)] * var.ndim
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        where[int(axis)] = slice(int(first), int(last), int(step))
    out[tuple(where)] = input_value
    return out
