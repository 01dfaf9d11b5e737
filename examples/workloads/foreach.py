"""References of the foreach operators: an elementwise one for every tensor of a list."""

from __future__ import annotations

from collections.abc import Callable

import elementwise
import numpy as np

Array = np.ndarray
List = list[Array]


def each(function: Callable[..., Array]) -> Callable[..., List]:
    """`function` of the first tensors of all lists, of the second and so on."""
    return lambda *lists: [function(*tensors) for tensors in zip(*lists, strict=True)]


def with_scalar(function: Callable[..., Array]) -> Callable[..., List]:
    """As `each`; the last operand is a tensor of one element, the same for all."""
    return lambda *given: [function(*ts, given[-1]) for ts in zip(*given[:-1], strict=True)]


def with_scalars(function: Callable[..., Array]) -> Callable[..., List]:
    """As `each`; the last operand is a tensor with an element for every tensor of the lists."""
    return lambda *given: each(function)(*given[:-1], given[-1].reshape(-1, 1))


def __getattr__(name: str) -> Callable[..., List]:
    """Any other name is that of an elementwise reference."""
    return each(getattr(elementwise, name))


add_list = with_scalar(lambda x1, x2, alpha: x1 + x2 * alpha.flat[0])
add_scalar = with_scalar(elementwise.add)
addcdiv_scalar = with_scalar(elementwise.addcdiv)
addcmul_scalar = with_scalar(elementwise.addcmul)
div_scalar = with_scalar(elementwise.divide)
lerp_scalar = with_scalar(elementwise.lerp)
maximum_scalar = with_scalar(elementwise.maximum)
minimum_scalar = with_scalar(elementwise.minimum)
mul_scalar = with_scalar(elementwise.multiply)
pow_scalar = with_scalar(elementwise.power)
sub_scalar = with_scalar(elementwise.subtract)
add_scalar_list = with_scalars(elementwise.add)
addcdiv_scalar_list = with_scalars(elementwise.addcdiv)
addcmul_scalar_list = with_scalars(elementwise.addcmul)
div_scalar_list = with_scalars(elementwise.divide)

ROUNDING = {1: np.rint, 2: np.floor, 3: np.ceil, 5: np.trunc, 7: lambda t: t - np.trunc(t)}
"""By the number of the mode, as the vector unit counts them."""


def norm(x: List, scalar: Array) -> List:
    order = int(scalar.flat[0])
    return [np.linalg.norm(t.astype(np.float64).ravel(), order).reshape(1) for t in x]


def pow_scalar_and_tensor(scalar: Array, x: List) -> List:
    return [elementwise.power(scalar, t) for t in x]


def round_off_number(x: List, roundMode: Array) -> List:  # noqa: N803, the definition's name
    return [ROUNDING[int(roundMode.flat[0])](t) for t in x]


def unscale(scaled_grads: List, found_inf: Array, inv_scale: Array) -> tuple[List, Array]:
    """For finite gradients, which leave found_inf as it is."""
    return [t * inv_scale.flat[0] for t in scaled_grads], found_inf
