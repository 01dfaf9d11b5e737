"""References of the BLAS operators that reduce a vector to one element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def of_vector(function: Callable[[Array], Any]) -> Callable[..., Array]:
    """`function` of the n elements that lie incx apart; 0 of none, and backwards, as in BLAS."""

    def of(x: Array, n: int = 0, incx: int = 1) -> Array:
        some = n > 0 and incx > 0
        return np.array([function(x.reshape(-1)[: n * incx : incx]) if some else 0])

    return of


def size(x: Array) -> Array:
    """What BLAS compares and adds up."""
    return np.abs(x.real) + np.abs(x.imag)


amax = of_vector(lambda x: np.argmax(size(x)) + 1)
amin = of_vector(lambda x: np.argmin(size(x)) + 1)
asum = of_vector(lambda x: size(x.astype(np.complex128)).sum())
nrm2 = of_vector(lambda x: np.linalg.norm(x.astype(np.complex128)))
