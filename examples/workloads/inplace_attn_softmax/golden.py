from scipy import special


def inplace_attn_softmax(x):
    return special.softmax(x.astype("float64"), axis=-1)
