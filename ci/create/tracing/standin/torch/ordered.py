"""Methods of tensors that sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tensor import Extreme, Tensor


def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the elements in order, equal ones as they come."""
    keys = -self.data if descending else self.data
    return Tensor(np.argsort(keys, axis=dim, kind="stable"))


def sort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Extreme:
    """The elements in order, and their places."""
    places = argsort(self, dim, descending)
    return Extreme(self.gather(dim, places), places)


def topk(
    self: Tensor,
    k: Any,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002
) -> Extreme:
    """The k largest, the largest first, and their places."""
    along = dim % self.ndim
    places = argsort(self, along, largest)[(slice(None),) * along + (slice(0, k),)]
    return Extreme(self.gather(along, places), places)


def kthvalue(self: Tensor, k: Any, dim: int = -1, keepdim: bool = False) -> Extreme:
    """The kth smallest, and its place."""
    along = dim % self.ndim
    place = argsort(self, along)[(slice(None),) * along + (slice(k - 1, k),)]
    value = self.gather(along, place)
    return Extreme(*(one if keepdim else one.squeeze(along) for one in (value, place)))


def median(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The element in the middle, the lower of two; along an axis with its place."""
    flat, along = (self.flatten(), 0) if dim is None else (self, dim % self.ndim)
    middle = (flat.shape[along] - 1) // 2
    found = kthvalue(flat, middle + 1, along, keepdim)
    return found.values if dim is None else found


def scatter(self: Tensor, dim: int, index: Any, src: Any) -> Tensor:
    """The tensor with what `src` has written at places along an axis."""
    found = self.clone()
    found.scatter_(dim, index, src)
    return found


def scatter_in_place(self: Tensor, dim: int, index: Any, src: Any = None, **named: Any) -> Tensor:
    """The same in place."""
    value = named.get("value", src)
    np.put_along_axis(self.data, index.data, getattr(value, "data", value), dim)
    return self


for _name, _method in {
    "argsort": argsort,
    "sort": sort,
    "msort": lambda self: sort(self, 0).values,
    "topk": topk,
    "kthvalue": kthvalue,
    "median": median,
    "scatter": scatter,
    "scatter_": scatter_in_place,
}.items():
    setattr(Tensor, _name, _method)
