"""Reference of bank_conflict_ub."""

import numpy as np

BLOCK = 8
"""Elements of float in 32 bytes."""
REPEAT = 64
"""Elements of float that the vector unit takes at a time."""
TIMES = 1000


def repeated_add(
    x: np.ndarray,
    y: np.ndarray,
    first: int,
    second: int,
    result: int,
    block_stride: int,
    repeat_stride: int,
) -> np.ndarray:
    """What the last of the additions leaves; with the result over y they add up."""
    repeats = np.arange(x.size // REPEAT)[:, None, None] * repeat_stride
    blocks = np.arange(REPEAT // BLOCK)[None, :, None] * block_stride
    place = (repeats + blocks) * BLOCK + np.arange(BLOCK)
    taken = x[place.reshape(-1)]
    total = y.copy()
    for _ in range(TIMES if result == second else 1):
        total = taken + total
    return total
