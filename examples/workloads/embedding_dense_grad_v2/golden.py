import numpy as np


def embedding_dense_grad_v2(grad, sort_indices, pos_idx, num_weights):
    y = np.zeros((num_weights, grad.shape[-1]))
    np.add.at(y, sort_indices, grad[pos_idx].astype(np.float64))
    return y
