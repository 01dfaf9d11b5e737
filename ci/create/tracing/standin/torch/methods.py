"""Methods of tensors that are a function of numpy, or a formula of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .tensor import Tensor, of

_SAME: dict[str, str] = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "trunc", "exp2", "log2")},
    **{name: name for name in ("log10", "isnan", "isinf", "isfinite", "logical_not", "negative")},
    **{name: name for name in ("hypot", "fmod", "remainder", "logaddexp", "maximum", "minimum")},
    **{name: name for name in ("fmax", "fmin", "logical_and", "logical_or", "logical_xor")},
    **{name: name for name in ("heaviside", "copysign", "floor_divide", "true_divide", "divide")},
    **{name: name for name in ("multiply", "subtract", "greater", "less", "greater_equal")},
    **{name: name for name in ("less_equal", "not_equal", "deg2rad", "rad2deg", "matmul", "dot")},
    **{name: name for name in ("outer", "nan_to_num", "positive", "absolute", "tile", "fix")},
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "arctan2": "arctan2",
    "gt": "greater",
    "lt": "less",
    "ge": "greater_equal",
    "le": "less_equal",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "mod": "remainder",
    "fliplr": "fliplr",
    "__floordiv__": "floor_divide",
    "__mod__": "remainder",
    "__matmul__": "matmul",
    "__and__": "logical_and",
    "__or__": "logical_or",
    "__invert__": "logical_not",
    "__eq__": "equal",
    "__ne__": "not_equal",
    "flipud": "flipud",
    "tril": "tril",
    "triu": "triu",
    "swapaxes": "swapaxes",
    "movedim": "moveaxis",
    "moveaxis": "moveaxis",
    "ravel": "ravel",
    "nansum": "nansum",
    "nanmean": "nanmean",
    "broadcast_to": "broadcast_to",
    "einsum": "einsum",
    "isclose": "isclose",
    "kron": "kron",
    "vdot": "vdot",
}
"""Methods and the functions of numpy that they are; further arguments mean the same."""


def _numpy(name: str) -> Callable[..., Tensor]:
    function = getattr(np, name)

    def method(self: Tensor, *given: Any, **named: Any) -> Tensor:
        named = {k: of(v) for k, v in named.items()}
        if name in ("tril", "triu") and "diagonal" in named:
            named["k"] = named.pop("diagonal")
        return Tensor(function(of(self), *map(of, given), **named))

    return method


def _along(name: str) -> Callable[..., Tensor]:
    function = getattr(np, name)

    def method(self: Tensor, dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        axis = tuple(dim) if isinstance(dim, list) else dim
        return Tensor(function(self.data, axis=axis, keepdims=keepdim))

    return method


def masked_fill(self: Tensor, mask: Any, value: Any) -> Tensor:
    """`value` where the mask holds."""
    kept: Any = np.where(of(mask), of(value), self.data)
    return Tensor(kept.astype(self.data.dtype))


def where(self: Tensor, condition: Any, other: Any) -> Tensor:
    """The tensor where the condition holds, else the other one."""
    return Tensor(np.where(of(condition), self.data, of(other)))


def chunk(self: Tensor, chunks: int, dim: int = 0) -> Any:
    """Parts of an axis that they share equally."""
    return tuple(map(Tensor, np.split(self.data, chunks, axis=dim)))


def split(self: Tensor, size: Any, dim: int = 0) -> Any:
    """Parts of this length, or of these."""
    length = int(self.data.shape[dim])
    sizes = size if isinstance(size, list | tuple) else [size] * (length // int(size))
    places = [int(sum(sizes[: k + 1])) for k in range(len(sizes) - 1)]
    if length % int(sizes[0]) == 0 and len({int(s) for s in sizes}) == 1:
        return chunk(self, length // int(sizes[0]), dim)
    return tuple(map(Tensor, np.split(self.data, places, axis=dim)))


def unbind(self: Tensor, dim: int = 0) -> Any:
    """The places of an axis."""
    return tuple(self.select(dim, k) for k in range(int(self.data.shape[dim])))


def roll(self: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along axes, round."""
    return Tensor(np.roll(self.data, shifts, axis=dims))


def repeat_interleave(self: Tensor, repeats: int, dim: Any = None) -> Tensor:
    """Each element several times."""
    return Tensor(np.repeat(self.data, repeats, axis=dim))


def repeat(self: Tensor, *counts: Any) -> Tensor:
    """The tensor several times along each axis."""
    given = counts[0] if len(counts) == 1 and isinstance(counts[0], tuple | list) else counts
    return Tensor(np.tile(self.data, tuple(given)))


def diff(self: Tensor, n: int = 1, dim: int = -1) -> Tensor:
    """Differences of neighbours."""
    return Tensor(np.diff(self.data, n=n, axis=dim))


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Assignment to a mask or a range."""
    self.data[tuple(of(k) for k in key) if isinstance(key, tuple) else of(key)] = of(value)


def unflatten(self: Tensor, dim: int, sizes: Any) -> Tensor:
    """An axis as several."""
    at = dim % self.ndim
    return self.view(*self.shape[:at], *sizes, *self.shape[at + 1 :])


def argument(name: str) -> Callable[..., Tensor]:
    """`argmax` and `argmin`."""
    function = getattr(np, name)

    def method(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        return Tensor(function(self.data, axis=dim, keepdims=keepdim))

    return method


METHODS: dict[str, Any] = {
    **{name: _numpy(other) for name, other in _SAME.items()},
    **{name: _along(name) for name in ("any", "all", "count_nonzero", "ptp")},
    "argmax": argument("argmax"),
    "argmin": argument("argmin"),
    "masked_fill": masked_fill,
    "where": where,
    "chunk": chunk,
    "split": split,
    "unbind": unbind,
    "roll": roll,
    "repeat_interleave": repeat_interleave,
    "repeat": repeat,
    "diff": diff,
    "unflatten": unflatten,
    "__setitem__": setitem,
    "__hash__": lambda self: id(self),
    "__rmod__": lambda self, other: Tensor(np.remainder(of(other), self.data)),
    "__rfloordiv__": lambda self, other: Tensor(np.floor_divide(of(other), self.data)),
    "frac": lambda self: self - self.trunc(),
    "erfc": lambda self: 1.0 - self.erf(),
    "lerp": lambda self, end, weight: self + (end - self) * weight,
    "addcmul": lambda self, a, b, value=1: self + a * b * value,
    "addcdiv": lambda self, a, b, value=1: self + a / b * value,
    "clamp_min": lambda self, low: self.clamp(min=low),
    "clamp_max": lambda self, high: self.clamp(max=high),
    "view_as": lambda self, other: self.view(*other.shape),
    "reshape_as": lambda self, other: self.view(*other.shape),
    "expand_as": lambda self, other: self.expand(*other.shape),
    "type_as": lambda self, other: self.to(other.dtype),
    "type": lambda self, dtype: self.to(dtype),
    "new_zeros": lambda self, *s, **_: Tensor(np.zeros(s[0] if len(s) == 1 else s, np.float32)),
    "t": lambda self: self.T,
    "mT": property(lambda self: Tensor(np.swapaxes(self.data, -1, -2))),
    "xlogy": lambda self, y: Tensor(np.where(self.data == 0, 0.0, self.data * np.log(of(y)))),
    "baddbmm": lambda self, a, b, beta=1, alpha=1: self * beta + a.matmul(b) * alpha,
    "addmm": lambda self, a, b, beta=1, alpha=1: self * beta + a.matmul(b) * alpha,
    "softplus": lambda self: Tensor(np.logaddexp(self.data, 0.0)),
}

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
for _name in ("exp", "log", "sqrt", "tanh", "sigmoid", "relu", "floor", "ceil", "round", "neg"):
    setattr(Tensor, _name + "_", getattr(Tensor, _name))
