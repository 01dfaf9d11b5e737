"""Functions of torch.nn.functional by their formulas in PyTorch's documentation."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ci.create.tracing.tape import Untraceable
from ci.create.tracing.window_values import products, spread_products, windows

from ..tensor import Tensor, of, wrap
from .activations import *  # noqa: F403


def embedding(
    input: Any,  # noqa: A002
    weight: Tensor,
    padding_idx: Any = None,
    max_norm: Any = None,
    *_: Any,
    **__: Any,
) -> Tensor:
    """A row of the table for each number; `padding_idx` is for gradients."""
    if max_norm is not None:
        raise Untraceable("It changes the table of an embedding (max_norm); normalise it before.")
    return wrap(np.take(of(weight), of(input), axis=0))


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return x.relu()


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e^-x)."""
    return x.sigmoid()


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return x.tanh()


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x Φ(x), or its approximation by tanh."""
    if approximate == "tanh":
        return x * 0.5 * ((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)).tanh() + x * 0.5
    return x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1.0)


def silu(x: Tensor, inplace: bool = False) -> Tensor:
    """x σ(x)."""
    return x * x.sigmoid()


def elu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above zero, α (e^x - 1) below."""
    return x.clamp(min=0) + (x.clamp(max=0).exp() - 1.0) * alpha


def selu(x: Tensor, inplace: bool = False) -> Tensor:
    """Scaled exponential linear unit."""
    return x.selu()


def leaky_relu(x: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above zero, slope x below."""
    return x.clamp(min=0) + x.clamp(max=0) * negative_slope


def hardtanh(
    x: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Between two numbers."""
    return x.clamp(min_val, max_val)


def hardsigmoid(x: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x + 3, 0), 6) / 6."""
    return (x + 3.0).clamp(0.0, 6.0) / 6.0


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e^βx) / β, in the form that does not overflow; the threshold changes nothing then."""
    y = x * beta
    return (y.clamp(min=0) + ((-abs(y)).exp() + 1.0).log()) / beta


def softsign(x: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return x / (abs(x) + 1.0)


def softmax(x: Tensor, dim: int = -1, **_: Any) -> Tensor:
    """e^x over its sum."""
    return x.softmax(dim)


def log_softmax(x: Tensor, dim: int = -1, **_: Any) -> Tensor:
    """The logarithm of softmax."""
    return x.log_softmax(dim)


def _reduced(x: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return x
    if reduction == "batchmean":
        return x.sum() / x.shape[0]
    return x.sum() if reduction == "sum" else x.mean()


def mse_loss(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """(x - y)²."""
    return _reduced((x - y) * (x - y), reduction)


def l1_loss(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """|x - y|."""
    return _reduced(abs(x - y), reduction)


def smooth_l1_loss(
    x: Tensor, y: Tensor, *_: Any, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """d² / 2β below β, d - β/2 above: m (d - m/2) / β with m = min(d, β)."""
    d = abs(x - y)
    m = d.clamp(max=beta)
    return _reduced(m * (d - m * 0.5) / beta, reduction)


def kl_div(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """y (log y - x), zero where y is."""
    return _reduced(y * (y.clamp(min=1e-30).log() - x), reduction)


def cross_entropy(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """-log softmax(x) at the class y, for x of two axes."""
    if x.ndim != 2 or y.ndim != 1:
        raise Untraceable("It takes a cross_entropy of other shapes than [N, C] and [N].")
    picked = log_softmax(x, 1).gather(1, y.unsqueeze(1)).squeeze(1)
    return _reduced(-picked, reduction)


def cosine_similarity(x: Tensor, y: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x·y / (|x| |y|)."""
    size = x.norm(2, dim).clamp(min=eps) * y.norm(2, dim).clamp(min=eps)
    return (x * y).sum(dim) / size


def pairwise_distance(x: Tensor, y: Tensor, p: float = 2.0, eps: float = 1e-6) -> Tensor:
    """|x - y + ε| along the last axis."""
    return (x - y + eps).norm(p, -1)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    reduction: str = "mean",
    **_: Any,
) -> Tensor:
    """max(|a - p| - |a - n| + margin, 0)."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    return _reduced((near - far + margin).clamp(min=0), reduction)


def _normed(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    centred = x - x.mean(axes, True)
    return centred / ((centred * centred).mean(axes, True) + eps).sqrt()


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Any) -> Tensor:
    x = x if weight is None else x * weight.view(*shape)
    return x if bias is None else x + bias.view(*shape)


def _by_channel(x: Tensor) -> tuple[Any, ...]:
    return (1, x.shape[1], *(1,) * (x.ndim - 2))


def layer_norm(
    x: Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Over the last axes."""
    found = _normed(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def batch_norm(
    x: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize by the statistics of the batch."""
    axes = (0, *range(2, x.ndim))
    return _scaled(_normed(x, axes, eps), weight, bias, _by_channel(x))


def instance_norm(x: Tensor, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Normalize by sample and channel."""
    return _scaled(_normed(x, tuple(range(2, x.ndim)), eps), weight, bias, _by_channel(x))


def group_norm(
    x: Tensor, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Normalize by sample and group of channels."""
    split = x.view(x.shape[0], groups, -1)
    found = _normed(split, (2,), eps).view(*x.shape)
    return _scaled(found, weight, bias, _by_channel(x))


def normalize(x: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """x over its norm."""
    return x / x.norm(p, dim, True).clamp(min=eps)


def pooled(x: Tensor, kind: str, axes: int, kernel: Any, stride: Any, padding: Any) -> Tensor:
    """Windows along the last axes: their largest, or their mean with the padding counted."""

    def each(value: Any) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, list | tuple) else (int(value),) * axes

    size = each(kernel)
    step = each(kernel if stride is None else stride)
    pad = each(padding)
    data = of(x)
    if isinstance(data, np.ndarray):
        fold, fill = (np.max, -np.inf) if kind == "max" else (np.sum, 0.0)
        found = windows(fold, data, size, step, pad, fill)
    else:
        found = data.windows(kind, size, step, pad)
    return wrap(found if kind == "max" else found * (1.0 / math.prod(size)))


def pooled_to(kind: str, axes: int, x: Tensor, output_size: Any) -> Tensor:
    """The mean or the largest of the last axes, to a size of one each."""
    sizes = output_size if isinstance(output_size, list | tuple) else (output_size,) * axes
    if {*sizes} != {1}:
        raise Untraceable(
            "It pools to a size other than one; give the size and the step of windows."
        )
    over = tuple(range(-axes, 0))
    return x.mean(over, True) if kind == "avg" else x.amax(over, True)


adaptive_avg_pool1d = partial(pooled_to, "avg", 1)
adaptive_avg_pool2d = partial(pooled_to, "avg", 2)
adaptive_avg_pool3d = partial(pooled_to, "avg", 3)


def _convolved(
    axes: int,
    x: Tensor,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Windows along the last axes by weights, summed over the channels of each group."""

    def each(value: Any) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, list | tuple) else (int(value),) * axes

    data, by, step, apart = of(x), of(weight), each(stride), each(dilation)
    if padding == "same":
        seen = [(k - 1) * d for k, d in zip(by.shape[2:], apart, strict=True)]
        if any(n % 2 for n in seen) or set(step) != {1}:
            raise Untraceable("It pads by padding='same' unevenly; write the numbers.")
        padding = [n // 2 for n in seen]
    pad = each(0 if padding == "valid" else padding)
    if data.ndim != axes + 2:
        raise Untraceable(
            f"It convolves a tensor of {data.ndim} axes; give it samples and channels."
        )
    own = by.reshape(groups, by.shape[0] // groups, *by.shape[1:])
    data = data.reshape(data.shape[0], groups, data.shape[1] // groups, *data.shape[2:])
    given = step, pad, apart
    known = isinstance(data, np.ndarray)
    found = products(data, own, *given)[:, :, :, 0] if known else data.dots(own, *given)
    found = found.reshape(found.shape[0], by.shape[0], *found.shape[3:])
    return wrap(found if bias is None else found + of(bias).reshape(-1, *(1,) * axes))


conv1d, conv2d, conv3d = (partial(_convolved, axes) for axes in (1, 2, 3))


def _spread(
    axes: int,
    x: Tensor,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each element by the weights at every place of the windows that it is in."""

    def each(value: Any) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, list | tuple) else (int(value),) * axes

    data, by = of(x), of(weight)
    if data.ndim != axes + 2:
        raise Untraceable(
            f"It convolves a tensor of {data.ndim} axes; give it samples and channels."
        )
    own = by.reshape(groups, by.shape[0] // groups, *by.shape[1:])
    own = np.swapaxes(own, 1, 2)
    data = data.reshape(data.shape[0], groups, data.shape[1] // groups, *data.shape[2:])
    given = each(stride), each(padding), each(dilation), each(output_padding)
    known = isinstance(data, np.ndarray)
    found = spread_products(data, own, *given)[:, :, :, 0] if known else data.undots(own, *given)
    found = found.reshape(found.shape[0], groups * by.shape[1], *found.shape[3:])
    return wrap(found if bias is None else found + of(bias).reshape(-1, *(1,) * axes))


conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    partial(_spread, axes) for axes in (1, 2, 3)
)
