"""The tensor: an array of numpy, or what stands for one, under PyTorch's names."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

Extreme = namedtuple("Extreme", ("values", "indices"))


def of(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value.data if isinstance(value, Tensor) else value


plain = of


def wrap(value: Any) -> Tensor:
    """An array as a tensor. Computed dtypes follow PyTorch: numbers do not widen a tensor."""
    return Tensor(value)


def tensor(value: Any, dtype: Any = None, **_: Any) -> Tensor:
    """A tensor of numbers."""
    array = np.asarray(of(value))
    kind = dtype or ("float32" if array.dtype.kind == "f" else array.dtype)
    return Tensor(array.astype(kind))


def _axis(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list | tuple) else dim


class Tensor:
    """A tensor."""

    __array_priority__ = 2000

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def shape(self) -> Any:
        """Its sizes."""
        return self.data.shape

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return int(self.data.ndim)

    @property
    def T(self) -> Tensor:  # noqa: N802
        """Its axes in reverse order."""
        return Tensor(self.data.T)

    device = "cpu"

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Any:
        return iter(self.data)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __getitem__(self, key: Any) -> Tensor:
        keys = tuple(of(k) for k in key) if isinstance(key, tuple) else of(key)
        return Tensor(self.data[keys])

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of an axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def numel(self) -> Any:
        """The number of elements."""
        return self.data.size

    # Arithmetic

    def _with(self, function: Any, other: Any, swapped: bool = False) -> Tensor:
        other = of(other)
        pair = (other, self.data) if swapped else (self.data, other)
        return Tensor(function(*pair))

    def __add__(self, other: Any) -> Tensor:
        return self._with(np.add, other)

    __radd__ = add = __add__

    def __sub__(self, other: Any) -> Tensor:
        return self._with(np.subtract, other)

    sub = __sub__

    def __rsub__(self, other: Any) -> Tensor:
        return self._with(np.subtract, other, True)

    def __mul__(self, other: Any) -> Tensor:
        return self._with(np.multiply, other)

    __rmul__ = mul = __mul__

    def __truediv__(self, other: Any) -> Tensor:
        return self._with(np.divide, other)

    div = __truediv__

    def __rtruediv__(self, other: Any) -> Tensor:
        return self._with(np.divide, other, True)

    def __pow__(self, other: Any) -> Tensor:
        return self._with(np.power, other)

    pow = __pow__

    def __rpow__(self, other: Any) -> Tensor:
        return self._with(np.power, other, True)

    def __neg__(self) -> Tensor:
        return Tensor(np.negative(self.data))

    neg = __neg__

    def __abs__(self) -> Tensor:
        return Tensor(np.abs(self.data))

    abs = __abs__

    def __lt__(self, other: Any) -> Tensor:
        return self._with(np.less, other)

    def __le__(self, other: Any) -> Tensor:
        return self._with(np.less_equal, other)

    def __gt__(self, other: Any) -> Tensor:
        return self._with(np.greater, other)

    def __ge__(self, other: Any) -> Tensor:
        return self._with(np.greater_equal, other)

    def eq(self, other: Any) -> Tensor:
        """Where they are equal."""
        return self._with(np.equal, other)

    def ne(self, other: Any) -> Tensor:
        """Where they differ."""
        return self._with(np.not_equal, other)

    # Elementwise, without surprises

    exp = lambda self: Tensor(np.exp(self.data))  # noqa: E731
    log = lambda self: Tensor(np.log(self.data))  # noqa: E731
    log1p = lambda self: Tensor(np.log1p(self.data))  # noqa: E731
    expm1 = lambda self: Tensor(np.expm1(self.data))  # noqa: E731
    sqrt = lambda self: Tensor(np.sqrt(self.data))  # noqa: E731
    rsqrt = lambda self: Tensor(1.0 / np.sqrt(self.data))  # noqa: E731
    reciprocal = lambda self: Tensor(1.0 / self.data)  # noqa: E731
    square = lambda self: Tensor(np.square(self.data))  # noqa: E731
    tanh = lambda self: Tensor(np.tanh(self.data))  # noqa: E731
    sign = lambda self: Tensor(np.sign(self.data))  # noqa: E731
    floor = lambda self: Tensor(np.floor(self.data))  # noqa: E731
    ceil = lambda self: Tensor(np.ceil(self.data))  # noqa: E731
    round = lambda self: Tensor(np.rint(self.data))  # noqa: E731
    relu = lambda self: Tensor(np.maximum(self.data, 0))  # noqa: E731

    def sigmoid(self) -> Tensor:
        """1 / (1 + e^-x)."""
        return Tensor(1.0 / (1.0 + np.exp(np.negative(self.data))))

    def erf(self) -> Tensor:
        """The error function."""
        from scipy.special import erf

        return Tensor(erf(self.data))

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:  # noqa: A002
        """Between two numbers."""
        found = self.data if min is None else np.maximum(self.data, of(min))
        return Tensor(found if max is None else np.minimum(found, of(max)))

    clip = clamp

    def selu(self) -> Tensor:
        """Scaled exponential linear unit."""
        low = (self.clamp(max=0).exp() - 1.0) * 1.6732632423543772  # constants of the paper
        return (self.clamp(min=0) + low) * 1.0507009873554805

    def softmax(self, dim: int = -1, **_: Any) -> Tensor:
        """e^x over its sum along an axis."""
        e = (self - self.amax(dim, True)).exp()
        return e / e.sum(dim, True)

    def log_softmax(self, dim: int = -1, **_: Any) -> Tensor:
        """Logarithm of the softmax."""
        low = self - self.amax(dim, True)
        return low - low.exp().sum(dim, True).log()

    # Reductions

    def sum(self, dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        """The sum."""
        return Tensor(np.sum(self.data, axis=_axis(dim), keepdims=keepdim))

    def mean(self, dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        """The mean."""
        return Tensor(np.mean(self.data, axis=_axis(dim), keepdims=keepdim))

    def var(
        self, dim: Any = None, unbiased: bool = True, keepdim: bool = False, **more: Any
    ) -> Tensor:
        """The variance, over n - 1 unless you say otherwise."""
        ddof = more.get("correction", int(unbiased))
        return Tensor(np.var(self.data, axis=_axis(dim), ddof=ddof, keepdims=keepdim))

    def std(
        self, dim: Any = None, unbiased: bool = True, keepdim: bool = False, **more: Any
    ) -> Tensor:
        """The root of the variance."""
        return self.var(dim, unbiased, keepdim, **more).sqrt()

    def prod(self, dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        """The product."""
        return Tensor(np.prod(self.data, axis=_axis(dim), keepdims=keepdim))

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        """The largest; along an axis with where it is."""
        if isinstance(dim, Tensor):
            return self._with(np.maximum, dim)
        return self._extreme(np.max, np.argmax, dim, keepdim)

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        """The smallest, likewise."""
        if isinstance(dim, Tensor):
            return self._with(np.minimum, dim)
        return self._extreme(np.min, np.argmin, dim, keepdim)

    def _extreme(self, value: Any, place: Any, dim: Any, keepdim: bool) -> Any:
        found = Tensor(value(self.data, axis=_axis(dim), keepdims=keepdim))
        if dim is None:
            return found
        return Extreme(found, Tensor(place(self.data, axis=dim, keepdims=keepdim)))

    def amax(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """The largest."""
        return Tensor(np.max(self.data, axis=_axis(dim), keepdims=keepdim))

    def amin(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """The smallest."""
        return Tensor(np.min(self.data, axis=_axis(dim), keepdims=keepdim))

    def norm(self, p: Any = "fro", dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        """The norm of order p of the elements."""
        axis = _axis(dim)
        if p in ("fro", 2, 2.0, None):
            squares = np.sum(self.data * self.data, axis=axis, keepdims=keepdim)
            return Tensor(np.sqrt(squares))
        if p == 1:
            return Tensor(np.sum(np.abs(self.data), axis=axis, keepdims=keepdim))
        if p == np.inf:
            return Tensor(np.max(np.abs(self.data), axis=axis, keepdims=keepdim))
        powers = np.sum(np.abs(self.data) ** p, axis=axis, keepdims=keepdim)
        return Tensor(powers ** (1.0 / p))

    def logsumexp(self, dim: Any, keepdim: bool = False) -> Tensor:
        """Return the logarithm of the sum of e^x."""
        top = np.max(self.data, axis=_axis(dim), keepdims=True)
        rest = np.log(np.sum(np.exp(self.data - top), axis=_axis(dim), keepdims=True)) + top
        return Tensor(rest if keepdim else np.squeeze(rest, axis=_axis(dim)))

    def cumsum(self, dim: int, **_: Any) -> Tensor:
        """Running sum."""
        return Tensor(np.cumsum(self.data, axis=dim))

    def cumprod(self, dim: int, **_: Any) -> Tensor:
        """Running product."""
        return Tensor(np.cumprod(self.data, axis=dim))

    # Shapes

    def view(self, *shape: Any) -> Tensor:
        """In another shape."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return Tensor(np.reshape(self.data, tuple(given)))

    reshape = view

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Axes joined to one."""
        end = end_dim % self.ndim
        shape = self.shape
        return self.view(*shape[:start_dim], -1, *shape[end + 1 :])

    def unsqueeze(self, dim: int) -> Tensor:
        """The tensor with one axis more."""
        return Tensor(np.expand_dims(self.data, dim))

    def squeeze(self, dim: Any = None) -> Tensor:
        """Without axes of one element."""
        return Tensor(np.squeeze(self.data, axis=dim))

    def transpose(self, a: int, b: int) -> Tensor:
        """The tensor with two axes exchanged."""
        return Tensor(np.swapaxes(self.data, a, b))

    def permute(self, *axes: Any) -> Tensor:
        """The tensor with its axes in another order."""
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        return Tensor(np.transpose(self.data, tuple(given)))

    def flip(self, *dims: Any) -> Tensor:
        """Axes from their ends."""
        given = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
        return Tensor(np.flip(self.data, tuple(given)))

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        """A range of an axis."""
        keys: list[Any] = [slice(None)] * self.ndim
        keys[dim] = slice(int(start), int(start) + int(length))
        return Tensor(self.data[tuple(keys)])

    def select(self, dim: int, index: int) -> Tensor:
        """One place of an axis."""
        keys: list[Any] = [slice(None)] * self.ndim
        keys[dim] = index
        return Tensor(self.data[tuple(keys)])

    def gather(self, dim: int, index: Any) -> Tensor:
        """What lies at places along an axis, each element with its own."""
        return Tensor(np.take_along_axis(self.data, of(index), dim))

    def index_select(self, dim: int, index: Any) -> Tensor:
        """What lies at places along an axis."""
        return Tensor(np.take(self.data, of(index), axis=dim))

    def expand(self, *shape: Any) -> Tensor:
        """Over a larger shape."""
        return Tensor(np.broadcast_to(self.data, tuple(shape)))

    def clone(self, **_: Any) -> Tensor:
        """The same elements, which may be assigned to."""
        return Tensor(np.copy(self.data))

    # Dtypes and what has no meaning here

    def to(self, *where: Any, **named: Any) -> Tensor:
        """Another dtype; devices are ignored."""
        for one in (*where, *named.values()):
            if isinstance(one, np.dtype):
                return Tensor(self.data.astype(one))
        return self

    float = lambda self: Tensor(self.data.astype(np.float32))  # noqa: E731
    half = lambda self: Tensor(self.data.astype(np.float16))  # noqa: E731
    double = lambda self: Tensor(self.data.astype(np.float64))  # noqa: E731
    bool = lambda self: Tensor(self.data.astype(np.bool_))  # noqa: E731
    long = lambda self: Tensor(self.data.astype(np.int64))  # noqa: E731
    int = lambda self: Tensor(self.data.astype(np.int32))  # noqa: E731
    contiguous = detach = cuda = cpu = lambda self, *_, **__: self  # noqa: E731
