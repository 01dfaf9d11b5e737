"""What scalar_scale computes."""

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


def scalar_scale(x: Array) -> Array:
    """2 x + 1."""
    return x * 2 + 1
