"""More functions of torch.nn.functional by their formulas in PyTorch's documentation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing.tape import Untraceable

from ..tensor import Tensor, of, wrap


def _softplus(x: Tensor) -> Tensor:
    """log(1 + e^x)."""
    return wrap(np.logaddexp(x.data, 0.0))


def mish(x: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(log(1 + e^x))."""
    return x * _softplus(x).tanh()


def hardswish(x: Tensor, inplace: bool = False) -> Tensor:
    """x min(max(x + 3, 0), 6) / 6."""
    return x * (x + 3.0).clamp(0.0, 6.0) / 6.0


def relu6(x: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return x.clamp(0.0, 6.0)


def celu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(x, 0) + min(α (e^(x/α) - 1), 0)."""
    return x.clamp(min=0.0) + (((x / alpha).exp() - 1.0) * alpha).clamp(max=0.0)


def logsigmoid(x: Tensor) -> Tensor:
    """-log(1 + e^-x)."""
    return -_softplus(-x)


def softmin(x: Tensor, dim: int = -1, **_: Any) -> Tensor:
    """Softmax of -x."""
    return (-x).softmax(dim)


def tanhshrink(x: Tensor) -> Tensor:
    """x - tanh x."""
    return x - x.tanh()


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by λ."""
    return (x - lambd).clamp(min=0.0) + (x + lambd).clamp(max=0.0)


def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x, and zero between -λ and λ."""
    return wrap(np.where(np.abs(x.data) > lambd, x.data, 0.0))


def threshold(x: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, else the value."""
    return wrap(np.where(x.data > threshold, x.data, value))


def glu(x: Tensor, dim: int = -1) -> Tensor:
    """a σ(b) of the halves of an axis."""
    a, b = np.split(x.data, 2, axis=dim)
    return wrap(a) * wrap(b).sigmoid()


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """x above zero, else x by a weight of its channel."""
    slope = weight.data
    if x.ndim > 1 and slope.ndim == 1:
        slope = np.reshape(slope, (1, -1, *(1,) * (x.ndim - 2)))
    return wrap(np.where(x.data > 0, x.data, x.data * slope))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b."""
    found = wrap(np.matmul(x.data, np.swapaxes(weight.data, -1, -2)))
    return found if bias is None else found + bias


def rms_norm(x: Tensor, shape: Any, weight: Tensor | None = None, eps: Any = None) -> Tensor:
    """x / √(mean x² + ε) over the last axes."""
    axes = tuple(range(-len(tuple(shape)), 0))
    small = 1.1920929e-07 if eps is None else eps
    found = x * ((x * x).mean(axes, keepdim=True) + small).rsqrt()
    return found if weight is None else found * weight


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """The tensor itself: a reference is evaluated."""
    if training and p:
        raise Untraceable("It drops elements at random; call dropout with training=False.")
    return x


def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Channels to places of an image."""
    r = upscale_factor
    n, c, h, w = x.shape
    parts = x.view(n, c // (r * r), r, r, h, w).permute(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, c // (r * r), h * r, w * r)


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Any = None, is_causal: bool = False, **more: Any
) -> Tensor:
    """softmax(q kᵀ / √d) v."""
    scale = more.get("scale") or float(q.shape[-1]) ** -0.5
    scores = wrap(np.matmul(q.data, np.swapaxes(k.data, -1, -2))) * scale
    if is_causal:
        rows, cols = np.arange(scores.shape[-2]), np.arange(scores.shape[-1])
        keep = cols[None, :] <= rows[:, None]
        scores = wrap(np.where(keep, scores.data, -np.inf))
    if attn_mask is not None:
        scores = scores + attn_mask
    return wrap(np.matmul(scores.softmax(-1).data, v.data))


def _reduced(x: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return x
    return x.sum() if reduction == "sum" else x.mean()


def binary_cross_entropy(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """-(y log x + (1 - y) log(1 - x)), with logarithms of -100 at the least."""
    up, down = x.log().clamp(min=-100.0), (1.0 - x).log().clamp(min=-100.0)
    return _reduced(-(y * up + (1.0 - y) * down), reduction)


def binary_cross_entropy_with_logits(
    x: Tensor, y: Tensor, *_: Any, reduction: str = "mean"
) -> Tensor:
    """max(x, 0) - x y + log(1 + e^-|x|)."""
    return _reduced(x.clamp(min=0.0) - x * y + (-abs(x)).exp().log1p(), reduction)


def nll_loss(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """-x at the class y, for x of two axes."""
    return _reduced(-x.gather(1, y.unsqueeze(1)).squeeze(1), reduction)


def huber_loss(x: Tensor, y: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d²/2 below δ, δ (d - δ/2) above."""
    d = abs(x - y)
    m = d.clamp(max=delta)
    return _reduced(m * (d - m * 0.5), reduction)


def soft_margin_loss(x: Tensor, y: Tensor, *_: Any, reduction: str = "mean") -> Tensor:
    """log(1 + e^-xy)."""
    return _reduced(_softplus(-(x * y)), reduction)


def margin_ranking_loss(
    a: Tensor, b: Tensor, y: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(-y (a - b) + margin, 0)."""
    return _reduced((-y * (a - b) + margin).clamp(min=0.0), reduction)


def poisson_nll_loss(
    x: Tensor, y: Tensor, log_input: bool = True, reduction: str = "mean", **more: Any
) -> Tensor:
    """e^x - y x, or x - y log(x + ε)."""
    eps = more.get("eps", 1e-8)
    return _reduced(x.exp() - y * x if log_input else x - y * (x + eps).log(), reduction)


def hinge_embedding_loss(
    x: Tensor, y: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """x where y is 1, max(margin - x, 0) where it is -1."""
    away = (margin - x).clamp(min=0.0)
    return _reduced(wrap(np.where(of(y) == 1, x.data, away.data)), reduction)
