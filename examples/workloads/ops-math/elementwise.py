"""References of the elementwise operators of ops-math, one function an operator."""

from __future__ import annotations

import numpy as np
from scipy import special

Array = np.ndarray


def acos(x: Array) -> Array:
    return np.arccos(x)


def acos_v2(x: Array) -> Array:
    return np.arccos(x)


def acos_grad_v2(y: Array, dy: Array) -> Array:
    y, dy = y.astype(np.float64), dy.astype(np.float64)
    return -dy / np.sqrt(1 - y * y)


def acosh_grad(y: Array, dy: Array) -> Array:
    return dy.astype(np.float64) / np.sinh(y.astype(np.float64))


def accumulate_nv2(x: list[Array], N: int = 1) -> Array:
    return np.sum(np.stack([part.astype(np.float64) for part in x]), axis=0)


def add_v2(x1: Array, x2: Array) -> Array:
    return x1 + x2


def asin_grad(y: Array, dy: Array) -> Array:
    y, dy = y.astype(np.float64), dy.astype(np.float64)
    return dy / np.sqrt(1 - y * y)


def asin_with_agent(x: Array) -> Array:
    return np.arcsin(x)


def asinh(x: Array) -> Array:
    return np.arcsinh(x)


def asinh_with_agent(x: Array) -> Array:
    return np.arcsinh(x)


def assign_sub(var: Array, value: Array) -> Array:
    return var - value


def atan(x: Array) -> Array:
    return np.arctan(x)


def atan2(x1: Array, x2: Array) -> Array:
    return np.arctan2(x1, x2)


def atan_grad(x: Array, dy: Array) -> Array:
    return dy / (1 + x.astype(np.float64) ** 2)


def atanh(x: Array) -> Array:
    return np.arctanh(x)


def axpy_v2(x1: Array, x2: Array, alpha: Array) -> Array:
    return x1 + alpha.reshape(-1)[0] * x2


def axpy_v3(x: Array, y: Array, a: float) -> Array:
    return a * x.astype(np.float64) + y


def bessel_i1e(x: Array) -> Array:
    return special.i1e(x.astype(np.float64))


def bitwise_and(x1: Array, x2: Array) -> Array:
    return x1 & x2


def bitwise_not(x: Array) -> Array:
    return ~x


def ceil_v2(x: Array) -> Array:
    return np.ceil(x)


def cosh(x: Array) -> Array:
    return np.cosh(x.astype(np.float64))


def cosh_v2(x: Array) -> Array:
    return np.cosh(x.astype(np.float64))


def div_v2(x1: Array, x2: Array) -> Array:
    return x1 / x2


def erf(x: Array) -> Array:
    return special.erf(x.astype(np.float64))


def erf_inv(x: Array) -> Array:
    return special.erfinv(x.astype(np.float64))


def floor(x: Array) -> Array:
    return np.floor(x)


def floor_div(x1: Array, x2: Array) -> Array:
    return np.floor(x1.astype(np.float64) / x2)


def floor_mod(x1: Array, x2: Array) -> Array:
    return np.mod(x1, x2)


def fused_mul_add_n(x1: Array, x2: Array, x3: Array) -> Array:
    return x1.astype(np.float64) * x3.reshape(-1)[0] + x2


def invert_v2(x: Array) -> Array:
    return ~x


def is_close(x1: Array, x2: Array, rtol: float, atol: float, equal_nan: bool = False) -> Array:
    return np.isclose(x1, x2, rtol, atol, equal_nan)


def is_neg_inf(x: Array) -> Array:
    return np.isneginf(x)


def is_pos_inf(x: Array) -> Array:
    return np.isposinf(x)


def log(x: Array, base: float, scale: float, shift: float) -> Array:
    return np.log(x.astype(np.float64) * scale + shift) / np.log(base)


def log1p_v2(x: Array) -> Array:
    return np.log1p(x.astype(np.float64))


def log_add_exp(x: Array, y: Array) -> Array:
    return np.logaddexp(x.astype(np.float64), y.astype(np.float64))


def logical_and(x1: Array, x2: Array) -> Array:
    return np.logical_and(x1, x2)


def masked_fill(x: Array, mask: Array, value: Array) -> Array:
    return np.where(mask, value.reshape(-1)[0], x)


def maximum_v2(x1: Array, x2: Array) -> Array:
    return np.maximum(x1, x2)


def minimum(x1: Array, x2: Array) -> Array:
    return np.minimum(x1, x2)


def mod(x1: Array, x2: Array) -> Array:
    return np.fmod(x1, x2)


def mul_v2(x1: Array, x2: Array) -> Array:
    return x1 * x2


def nan_to_num(x: Array, nan: float, posinf: float, neginf: float) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def ones_like(x: Array) -> Array:
    return np.ones_like(x)


def pow(x: Array, exponent: Array) -> Array:
    return np.power(x.astype(np.float64), exponent.astype(np.float64))


def real_div(x1: Array, x2: Array) -> Array:
    return x1.astype(np.float64) / x2


def right_shift(x: Array, y: Array) -> Array:
    return np.right_shift(x, y)


def round(x: Array, decimals: int = 0) -> Array:
    return np.round(x, decimals)


def rsqrt_grad(y: Array, dy: Array) -> Array:
    return -0.5 * dy * y.astype(np.float64) ** 3


def select_v2(condition: Array, x: Array, other: Array) -> Array:
    return np.where(condition, x, other)


def sign(x: Array) -> Array:
    return np.sign(x)


def sinh(x: Array) -> Array:
    return np.sinh(x.astype(np.float64))


def sinh_v2(x: Array) -> Array:
    return np.sinh(x.astype(np.float64))


def sqrt_grad(y: Array, dy: Array) -> Array:
    return 0.5 * dy.astype(np.float64) / y


def square_v2(x: Array) -> Array:
    return x.astype(np.float64) ** 2


def sub_v2(x1: Array, x2: Array) -> Array:
    return x1 - x2


def tan(x: Array) -> Array:
    return np.tan(x.astype(np.float64))


def tan_v2(x: Array) -> Array:
    return np.tan(x.astype(np.float64))


def tan_v3(x: Array) -> Array:
    return np.tan(x.astype(np.float64))


def tanh_grad(y: Array, dy: Array) -> Array:
    return dy * (1 - y.astype(np.float64) ** 2)


def tensor_move(x: Array) -> Array:
    return x


def trunc_v2(x: Array) -> Array:
    return np.trunc(x)


def truncate_div(x1: Array, x2: Array) -> Array:
    return np.trunc(x1.astype(np.float64) / x2)


def truncate_mod(x1: Array, x2: Array) -> Array:
    return np.fmod(x1, x2)


def zeros_like(x: Array) -> Array:
    return np.zeros_like(x)
