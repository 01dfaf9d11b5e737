import numpy as np


def select_reduce_max_d_sub_exp_reduce_sum_d_real_div(sel, input1, input2):
    x = np.where(sel, input1, input2).astype(np.float64)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
