"""Reference of adagrad_step in double precision."""

import numpy as np


def adagrad_step(
    weight: np.ndarray, state: np.ndarray, gradient: np.ndarray, rate: float = 0.01
) -> tuple[np.ndarray, np.ndarray]:
    weight = weight.astype(np.float64)
    state = state.astype(np.float64)
    gradient = gradient.astype(np.float64)
    new = state + gradient * gradient
    return (weight - rate * gradient / (np.sqrt(new) + 1e-6)).astype(np.float32), new.astype(
        np.float32
    )
