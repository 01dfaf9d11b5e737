"""The part of PyTorch that references of operators use, in numpy: it computes, and can be traced.

It is no PyTorch: no autograd, no devices, no random numbers. A tensor holds a numpy array or what
stands for one while a function is traced.
"""

from __future__ import annotations

import sys as _sys
from typing import Any

import numpy as np

from ci.create.tracing.tape import Untraceable

from . import methods, ordered
from .tensor import Tensor, of, plain, tensor, wrap

__version__ = "0 (stand-in of ascendopt)"

float32, float = np.dtype("float32"), np.dtype("float32")  # noqa: A001
float16, half = np.dtype("float16"), np.dtype("float16")
bfloat16 = np.dtype("float32")
float64, double = np.dtype("float64"), np.dtype("float64")
int32, int64, long = np.dtype("int32"), np.dtype("int64"), np.dtype("int64")
int8, uint8 = np.dtype("int8"), np.dtype("uint8")
bool = np.dtype("bool")  # noqa: A001
dtype = np.dtype
inf = np.inf
pi = np.pi


class Size(tuple):  # type: ignore[type-arg]
    """A shape."""


class DrawnLater:
    """Where the sizes of random tensors go; the one who traces puts something here."""

    make: Any = None


def _drawn(shape: Any, low: Any, high: Any, kind: Any) -> Tensor:
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if DrawnLater.make is None:
        raise Untraceable("It draws random numbers while it computes.")
    return Tensor(DrawnLater.make(tuple(given), low, high, kind))


def rand(*shape: Any, **_: Any) -> Tensor:
    """Uniform in [0, 1)."""
    return _drawn(shape, 0.0, 1.0, "float32")


def randn(*shape: Any, **_: Any) -> Tensor:
    """Normal; described as three standard deviations."""
    return _drawn(shape, -3.0, 3.0, "float32")


def randint(low: int, high: int, size: Any, **_: Any) -> Tensor:
    """Whole numbers from low to below high."""
    return _drawn((tuple(size),), low, high - 1, "int64")


def rand_like(x: Tensor, **_: Any) -> Tensor:
    """Uniform in [0, 1), in the shape of x."""
    return rand(*x.shape)


def randn_like(x: Tensor, **_: Any) -> Tensor:
    """Normal, in the shape of x."""
    return randn(*x.shape)


def zeros(*shape: Any, **_: Any) -> Tensor:
    """All zero."""
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if DrawnLater.make is not None:
        return _drawn((tuple(given),), 0.0, 0.0, "float32")
    return Tensor(np.zeros(tuple(given), np.float32))


def ones(*shape: Any, dtype: Any = None, **_: Any) -> Tensor:
    """All one."""
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return Tensor(np.ones(tuple(given), dtype or np.float32))


def zeros_like(x: Tensor, **_: Any) -> Tensor:
    """All zero, in the shape of x."""
    if DrawnLater.make is not None:
        return zeros(*x.shape)
    return Tensor(np.zeros_like(of(x)))


def ones_like(x: Tensor, **_: Any) -> Tensor:
    """All one, in the shape of x."""
    return Tensor(np.ones_like(of(x)))


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Joins tensors along an axis."""
    return wrap(np.concatenate([of(t) for t in tensors], axis=dim))


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Joins tensors along a new axis."""
    return wrap(np.stack([of(t) for t in tensors], axis=dim))


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    """Parts of an axis that they share equally."""
    return tuple(wrap(part) for part in np.split(of(x), chunks, axis=dim))


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """a where the condition holds, else b."""
    return wrap(np.where(of(condition), of(a), of(b)))


def maximum(a: Any, b: Any) -> Tensor:
    """The larger of each pair."""
    return wrap(np.maximum(of(a), of(b)))


def minimum(a: Any, b: Any) -> Tensor:
    """The smaller of each pair."""
    return wrap(np.minimum(of(a), of(b)))


def arange(*ends: Any, dtype: Any = None, **_: Any) -> Tensor:
    """Whole numbers in a row."""
    return Tensor(np.arange(*ends) if dtype is None else np.arange(*ends, dtype=dtype))


def full(size: Any, value: Any, dtype: Any = None, **_: Any) -> Tensor:
    """One number over a shape."""
    return Tensor(np.full(tuple(size), of(value), dtype or np.float32))


def full_like(x: Tensor, value: Any, **_: Any) -> Tensor:
    """One number in the shape of x."""
    return Tensor(np.full_like(of(x), of(value)))


def eye(n: Any, **_: Any) -> Tensor:
    """Ones on the diagonal."""
    return Tensor(np.eye(n, dtype=np.float32))


def einsum(formula: str, *operands: Any) -> Tensor:
    """Products and sums by a formula."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], list) else operands
    return wrap(np.einsum(formula, *(of(one) for one in given)))


def is_tensor(value: Any) -> Any:
    """Whether it is one of ours."""
    return isinstance(value, Tensor)


def manual_seed(seed: int) -> None:
    """Nothing is drawn here."""


class no_grad:  # noqa: N801
    """There is no autograd."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: Any) -> None: ...

    def __call__(self, function: Any) -> Any:
        return function


def __getattr__(name: str) -> Any:
    """Functions that are methods too, such as torch.exp and torch.sum."""
    if name.startswith("__"):
        raise AttributeError(name)
    method = getattr(Tensor, name, None)
    if method is None:
        raise AttributeError(f"the stand-in for torch has no '{name}'")

    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        x = kwargs.pop("input", x)
        return method(x if isinstance(x, Tensor) else tensor(x), *args, **kwargs)

    return function


from . import nn  # noqa: E402

__all__ = ["Tensor", "methods", "nn", "of", "ordered", "plain", "tensor"]
_sys.modules.setdefault(__name__ + ".linalg", _sys.modules[__name__])
