"""Reference of momentum_step in double precision."""

import numpy as np


def momentum_step(
    weight: np.ndarray,
    velocity: np.ndarray,
    gradient: np.ndarray,
    momentum: float = 0.9,
    rate: float = 0.01,
) -> tuple[np.ndarray, np.ndarray]:
    weight = weight.astype(np.float64)
    velocity = velocity.astype(np.float64)
    gradient = gradient.astype(np.float64)
    new = momentum * velocity + gradient
    return (weight - rate * new).astype(np.float32), new.astype(np.float32)
