"""Modules: those that references of operators are written with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ci.create.tracing.tape import Untraceable

from ..tensor import Tensor
from . import functional
from . import functional as F  # noqa: N812


class Parameter(Tensor):
    """A tensor that a module is trained by; of an operator it is an input."""


class Module:
    """A module."""

    training = True

    def __init__(self) -> None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` gives."""
        return self.forward(*args, **kwargs)  # type: ignore[attr-defined]

    def named_tensors(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Its tensors and those of modules in it."""
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                yield prefix + name, value
            elif isinstance(value, Module):
                yield from value.named_tensors(f"{prefix}{name}.")

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Its parameters and those of modules in it."""
        found = self.named_tensors(prefix)
        return ((name, value) for name, value in found if isinstance(value, Parameter))

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Keep a tensor that is no parameter."""
        setattr(self, name, tensor)

    def parameters(self) -> Iterator[Parameter]:
        """The same without names."""
        return (value for _, value in self.named_parameters())

    def eval(self) -> Module:
        """Here as in training."""
        return self

    to = cuda = cpu = train = lambda self, *_, **__: self  # noqa: E731


def _affine(shape: tuple[int, ...]) -> tuple[Parameter, Parameter]:
    return Parameter(np.ones(shape, np.float32)), Parameter(np.zeros(shape, np.float32))


class Embedding(Module):
    """A row of a table for each number."""

    def __init__(self, num_embeddings: int, embedding_dim: int, *more: Any, **named: Any) -> None:
        self.weight = Parameter(np.ones((num_embeddings, embedding_dim), np.float32))
        self.more, self.named = (
            more,
            {n: named[n] for n in ("padding_idx", "max_norm") if n in named},
        )

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.embedding(x, self.weight, *self.more, **self.named)


class LayerNorm(Module):
    """Over the last axes."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True
    ) -> None:
        whole = isinstance(normalized_shape, int)
        self.shape = (normalized_shape,) if whole else tuple(normalized_shape)
        self.eps = eps
        self.weight, self.bias = _affine(self.shape) if elementwise_affine else (None, None)

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class _BatchNorm(Module):
    def __init__(self, num_features: int, eps: float = 1e-5, *_: Any, **more: Any) -> None:
        self.eps = eps
        affine = more.get("affine", True)
        self.weight, self.bias = _affine((num_features,)) if affine else (None, None)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize by the statistics of the batch, as in training."""
        return F.batch_norm(x, None, None, self.weight, self.bias, True, eps=self.eps)


class BatchNorm1d(_BatchNorm):
    """Over the batch, by channel."""


class BatchNorm2d(_BatchNorm):
    """Over the batch, by channel."""


class BatchNorm3d(_BatchNorm):
    """Over the batch, by channel."""


class _InstanceNorm(Module):
    def __init__(self, num_features: int, eps: float = 1e-5, *_: Any, **more: Any) -> None:
        self.eps = eps
        affine = more.get("affine", False)
        self.weight, self.bias = _affine((num_features,)) if affine else (None, None)

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.instance_norm(x, weight=self.weight, bias=self.bias, eps=self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Normalization by sample and channel."""


class InstanceNorm2d(_InstanceNorm):
    """Normalization by sample and channel."""


class InstanceNorm3d(_InstanceNorm):
    """Normalization by sample and channel."""


class GroupNorm(Module):
    """Normalization by sample and group of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        self.num_groups, self.eps = num_groups, eps
        self.weight, self.bias = _affine((num_channels,)) if affine else (None, None)

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


class TripletMarginLoss(Module):
    """max(|a - p| - |a - n| + margin, 0)."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, **more: Any) -> None:
        self.given = {"margin": margin, "p": p, "eps": eps, **more}

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The module's function."""
        return F.triplet_margin_loss(anchor, positive, negative, **self.given)


class _Loss(Module):
    function: Any

    def __init__(self, *args: Any, **given: Any) -> None:
        self.args, self.given = args, given

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The module's function."""
        return type(self).function(x, y, *self.args, **self.given)  # type: ignore[no-any-return]


class MSELoss(_Loss):
    """Mean of squares."""

    function = staticmethod(F.mse_loss)


class L1Loss(_Loss):
    """Mean of absolute differences."""

    function = staticmethod(F.l1_loss)


class SmoothL1Loss(_Loss):
    """Quadratic near zero, linear far from it."""

    function = staticmethod(F.smooth_l1_loss)


class CrossEntropyLoss(_Loss):
    """Loss of logits and classes."""

    function = staticmethod(F.cross_entropy)


class KLDivLoss(_Loss):
    """Loss of log-probabilities and probabilities."""

    function = staticmethod(F.kl_div)


class _Pool(Module):
    axes = 1
    kind = "sum"

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, *_: Any, **more: Any
    ) -> None:
        self.window = kernel_size, stride, padding
        self.more = more
        if any(more.values()) or any(_):
            raise Untraceable("It pools with indices, dilation or ceil_mode, which is not traced.")

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.pooled(x, self.kind, self.axes, *self.window)


class _AdaptivePool(Module):
    axes = 1
    kind = "avg"

    def __init__(self, output_size: Any) -> None:
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.pooled_to(self.kind, self.axes, x, self.output_size)


class AdaptiveAvgPool1d(_AdaptivePool):
    """Means of whole axes."""


class AdaptiveAvgPool2d(_AdaptivePool):
    """Means of whole axes."""

    axes = 2


class AdaptiveAvgPool3d(_AdaptivePool):
    """Means of whole axes."""

    axes = 3


class AdaptiveMaxPool1d(_AdaptivePool):
    """Largest of whole axes."""

    kind = "max"


class AdaptiveMaxPool2d(_AdaptivePool):
    """Largest of whole axes."""

    axes, kind = 2, "max"


class AdaptiveMaxPool3d(_AdaptivePool):
    """Largest of whole axes."""

    axes, kind = 3, "max"


class AvgPool1d(_Pool):
    """Means of windows."""


class AvgPool2d(_Pool):
    """Means of windows."""

    axes = 2


class AvgPool3d(_Pool):
    """Means of windows."""

    axes = 3


class MaxPool1d(_Pool):
    """Largest of windows."""

    kind = "max"


class MaxPool2d(_Pool):
    """Largest of windows."""

    axes, kind = 2, "max"


class MaxPool3d(_Pool):
    """Largest of windows."""

    axes, kind = 3, "max"


def _activation(name: str) -> type[Module]:
    class Activation(Module):
        """An elementwise function as a module."""

        def __init__(self, *args: Any, **given: Any) -> None:
            self.args = args
            self.given = {k: v for k, v in given.items() if k != "inplace"}

        def forward(self, x: Tensor) -> Tensor:
            """The module's function."""
            return getattr(F, name)(x, *self.args, **self.given)  # type: ignore[no-any-return]

    return Activation


ReLU, GELU, SiLU, ELU = map(_activation, ("relu", "gelu", "silu", "elu"))
SELU, Sigmoid, Tanh, Softplus = map(_activation, ("selu", "sigmoid", "tanh", "softplus"))
LeakyReLU, Hardtanh, Hardsigmoid = map(_activation, ("leaky_relu", "hardtanh", "hardsigmoid"))
Softsign, Softmax, LogSoftmax = map(_activation, ("softsign", "softmax", "log_softmax"))
Mish, Hardswish, ReLU6, CELU = map(_activation, ("mish", "hardswish", "relu6", "celu"))
LogSigmoid, Softmin, Tanhshrink = map(_activation, ("logsigmoid", "softmin", "tanhshrink"))
Softshrink, Hardshrink, Threshold = map(_activation, ("softshrink", "hardshrink", "threshold"))
GLU, PixelShuffle = map(_activation, ("glu", "pixel_shuffle"))


def _loss(name: str) -> type[Module]:
    return type("Loss", (_Loss,), {"function": staticmethod(getattr(F, name))})


BCELoss, NLLLoss = map(_loss, ("binary_cross_entropy", "nll_loss"))
BCEWithLogitsLoss, HuberLoss = map(_loss, ("binary_cross_entropy_with_logits", "huber_loss"))
SoftMarginLoss, PoissonNLLLoss = map(_loss, ("soft_margin_loss", "poisson_nll_loss"))
HingeEmbeddingLoss = _loss("hinge_embedding_loss")


class Identity(Module):
    """The tensor itself, as dropout is where a reference is evaluated."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return x


class Linear(Module):
    """x Wᵀ + b."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, **_: Any) -> None:
        self.weight = Parameter(np.ones((out_features, in_features), np.float32))
        self.bias = Parameter(np.zeros((out_features,), np.float32)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.linear(x, self.weight, self.bias)


class _Weighted(Module):
    axes = 1
    weight: Parameter
    bias: Parameter | None

    def _weigh(self, channels: tuple[int, int], kernel_size: Any, biases: int) -> None:
        many = isinstance(kernel_size, list | tuple)
        size = tuple(kernel_size) if many else (kernel_size,) * self.axes
        self.weight = Parameter(np.ones((*channels, *size), np.float32))
        self.bias = Parameter(np.zeros((biases,), np.float32)) if biases else None


class _Conv(_Weighted):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        **_: Any,
    ) -> None:
        if padding_mode != "zeros":
            raise Untraceable(f"It pads by padding_mode='{padding_mode}', which is not traced.")
        self._weigh((out_channels, in_channels // groups), kernel_size, out_channels if bias else 0)
        self.given = stride, padding, dilation, groups

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        function = (F.conv1d, F.conv2d, F.conv3d)[self.axes - 1]
        return function(x, self.weight, self.bias, *self.given)


class Conv1d(_Conv):
    """Windows by weights."""


class Conv2d(_Conv):
    """Windows by weights."""

    axes = 2


class Conv3d(_Conv):
    """Windows by weights."""

    axes = 3


class _ConvTranspose(_Weighted):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        **_: Any,
    ) -> None:
        self._weigh((in_channels, out_channels // groups), kernel_size, out_channels if bias else 0)
        self.given = stride, padding, output_padding, groups, dilation

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        functions = F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d
        return functions[self.axes - 1](x, self.weight, self.bias, *self.given)


class ConvTranspose1d(_ConvTranspose):
    """Elements by weights."""


class ConvTranspose2d(_ConvTranspose):
    """Elements by weights."""

    axes = 2


class ConvTranspose3d(_ConvTranspose):
    """Elements by weights."""

    axes = 3


class RMSNorm(Module):
    """Division by the root of the mean of squares."""

    def __init__(self, shape: Any, eps: Any = None, elementwise_affine: bool = True) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps = eps
        self.weight = _affine(self.shape)[0] if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.rms_norm(x, self.shape, self.weight, self.eps)


class PReLU(Module):
    """x above zero, else x by a weight."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        self.weight = Parameter(np.full((num_parameters,), init, np.float32))

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return F.prelu(x, self.weight)


class Flatten(Module):
    """Axes joined to one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.ends = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        return x.flatten(*self.ends)


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Module) -> None:
        for place, module in enumerate(modules):
            setattr(self, f"m{place}", module)

    def __iter__(self) -> Iterator[Module]:
        return (value for value in vars(self).values() if isinstance(value, Module))

    def forward(self, x: Tensor) -> Tensor:
        """The module's function."""
        for module in self:
            x = module(x)
        return x


class ModuleList(Sequential):
    """Modules in a list."""

    def __init__(self, modules: Any = ()) -> None:
        super().__init__(*modules)


__all__ = ["Module", "Parameter", "functional"]
