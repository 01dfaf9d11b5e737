"""References of elementwise operators; `foreach.py` applies them to lists of tensors.

A name that is not here is that of a function of numpy or of scipy.special.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

Array = np.ndarray


def wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function` of the operands, floats among them in double precision."""

    def golden(*operands: Array) -> Array:
        return function(*(x.astype(np.float64) if x.dtype.kind == "f" else x for x in operands))

    return golden


def __getattr__(name: str) -> Callable[..., Array]:
    return wide(getattr(np, name, None) or getattr(special, name))


reciprocal = wide(lambda x: 1 / x)
rsqrt = wide(lambda x: 1 / np.sqrt(x))

# The last operand is a tensor of one element.
axpy = wide(lambda x1, x2, alpha: x1 + alpha.flat[0] * x2)
addcdiv = wide(lambda x, x1, x2, value: x + x1 / x2 * value.flat[0])
addcmul = wide(lambda x, x1, x2, value: x + x1 * x2 * value.flat[0])
fused_mul_add_n = wide(lambda x1, x2, x3: x1 * x3.flat[0] + x2)
masked_fill = wide(lambda x, mask, value: np.where(mask, value.flat[0], x))
clip = wide(lambda x, low, high: np.clip(x, low.flat[0], high.flat[0]))

fast_gelu = wide(lambda x: x / (1 + np.exp(-1.702 * x)))
floor_div = wide(lambda x1, x2: np.floor(x1 / x2))
gelu = wide(lambda x: x / (1 + np.exp(-1.595769122 * (x + 0.0455399241 * x**3))))
lerp = wide(lambda start, end, weight: start + weight * (end - start))
truncate_div = wide(lambda x1, x2: np.trunc(x1 / x2))
xlogy = wide(lambda x1, x2: x1 * np.log(x2))

acos_grad = wide(lambda y, dy: -dy / np.sqrt(1 - y * y))
acosh_grad = wide(lambda y, dy: dy / np.sinh(y))
asin_grad = wide(lambda y, dy: dy / np.sqrt(1 - y * y))
atan_grad = wide(lambda x, dy: dy / (1 + x**2))
rsqrt_grad = wide(lambda y, dy: -0.5 * dy * y**3)
sqrt_grad = wide(lambda y, dy: 0.5 * dy / y)
tanh_grad = wide(lambda y, dy: dy * (1 - y**2))


def same(x: Array) -> Array:
    return x


def muls(x: Array, value: Array) -> Array:
    return (x.astype(np.float64) * float(value.flat[0])).astype(x.dtype)


def axpy_v3(x: Array, y: Array, a: float) -> Array:
    return a * x.astype(np.float64) + y


def exp(x: Array, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> Array:
    return np.exp((x.astype(np.float64) * scale + shift) * (1 if base == -1 else np.log(base)))


def log(x: Array, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> Array:
    return np.log(x.astype(np.float64) * scale + shift) / (1 if base == -1 else np.log(base))


def is_close(x1: Array, x2: Array, rtol: float, atol: float, equal_nan: bool = False) -> Array:
    return np.isclose(x1, x2, rtol, atol, equal_nan)


def nan_to_num(x: Array, nan: float, posinf: float, neginf: float) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def round_(x: Array, decimals: int = 0) -> Array:
    return np.round(x, decimals)


def sscal(x: Array, alpha: float) -> Array:
    return x * alpha


def swish(x: Array, scale: float = 1.0) -> Array:
    return x * special.expit(scale * x.astype(np.float64))
