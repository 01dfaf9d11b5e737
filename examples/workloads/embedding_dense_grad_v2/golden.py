import numpy as np


def embedding_dense_grad_v2(
    grad, sort_indices, pos_idx, num_weights, padding_idx=-1, scale_grad_by_freq=False
):
    """Row pos_idx[i] of grad belongs to weight sort_indices[i]; rows of a weight are added."""
    result = np.zeros((num_weights, grad.shape[-1]))
    for weight, row in zip(sort_indices, pos_idx, strict=True):
        if weight != padding_idx:
            result[weight] += grad[row]
    if scale_grad_by_freq:
        counts = np.bincount(sort_indices, minlength=num_weights)
        result /= np.maximum(counts, 1)[:, None]
    return result
