import numpy as np


def ascend_quant_v2(x, scale, offset, dst_type=2, dtypes=None):
    y = np.rint(x.astype(np.float64) * scale + offset)
    low, high = (-8, 7) if dtypes and dtypes.get("y") == "int4" else (-128, 127)
    return np.clip(y, low, high).astype(np.int8)
