"""Golden functions of operators that cann-ops has too, each in numpy alone.

Make an operator of one:

    ascendopt create examples/goldens.py:gelu --workload WORKLOAD.yaml --out FOLDER

or of all, and hold them against those written by hand: `ascendopt bench create`
(docs/create-measurements.md).
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def abs(x: Array) -> Array:  # noqa: A001
    return np.abs(x)


def add_custom(x: Array, y: Array) -> Array:
    return x + y


def add_rms_norm(
    x1: Array, x2: Array, gamma: Array, epsilon: float = 1e-6
) -> tuple[Array, Array, Array]:
    x = (x1 + x2).astype(np.float32)
    rstd = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)
    return (x * rstd * gamma).astype(x1.dtype), rstd, x.astype(x1.dtype)


def addcdiv(x: Array, x1: Array, x2: Array, value: Array) -> Array:
    return x + x1 / x2 * value


def addcmul(x: Array, x1: Array, x2: Array, value: Array) -> Array:
    return x + x1 * x2 * value


def clip_by_value_v2(x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


def cos(x: Array) -> Array:
    return np.cos(x)


def fast_gelu(x: Array) -> Array:
    return x / (1 + np.exp(-1.702 * x))


def fast_gelu_grad(dy: Array, x: Array) -> Array:
    part = 1 / (1 + np.exp(-1.702 * x))
    return dy * part * (1 + 1.702 * x * (1 - part))


def gelu(x: Array) -> Array:
    return x / (1 + np.exp(-1.595769122 * (x + 0.0455399241 * x * x * x)))


def inplace_attn_softmax(x: Array) -> Array:
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def lerp(start: Array, end: Array, weight: Array) -> Array:
    return start + weight * (end - start)


def neg(x: Array) -> Array:
    return -x


def pows(x: Array, exponent: Array) -> Array:
    return x**exponent


def reciprocal(x: Array) -> Array:
    return 1 / x


def rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def sin(x: Array) -> Array:
    return np.sin(x)


def sqrt(x: Array) -> Array:
    return np.sqrt(x)


def swish(x: Array, scale: float = 1.0) -> Array:
    return x / (1 + np.exp(-scale * x))


def tanh(x: Array) -> Array:
    return np.tanh(x)
