"""Tasks in PyTorch: the stand-in computes by the formulas, and modules are traced through it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from ci.create.benchmark import torch_task
from ci.create.create import create
from ci.create.tracer import STANDIN
from ci.model.created import CreateSettings
from ci.model.errors import InputError

pytestmark = pytest.mark.every_level

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, features)

    def forward(self, x, scale: float):
        return torch.nn.functional.gelu(self.norm(x)) * scale

features = 64
length = 1 << 30

def get_inputs():
    return [torch.rand(2, features, length), 3.5]

def get_init_inputs():
    return [4]
"""


@pytest.fixture(scope="module")
def torch() -> Any:
    """The stand-in, imported as traced code imports it, and taken away again."""
    before = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "torch"}
    for name in before:
        del sys.modules[name]
    sys.path.insert(0, str(STANDIN))
    import torch as found

    yield found
    sys.path.remove(str(STANDIN))
    for name in [n for n in sys.modules if n.split(".")[0] == "torch"]:
        del sys.modules[name]
    sys.modules.update(before)


X = np.linspace(-6, 6, 97)
FORMULAS: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda x: x * special.ndtr(x),
    "silu": lambda x: x * special.expit(x),
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(0, x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softmax": lambda x: special.softmax(x, axis=-1),
    "log_softmax": lambda x: special.log_softmax(x, axis=-1),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "relu6": lambda x: np.clip(x, 0, 6),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "logsigmoid": lambda x: np.log(special.expit(x)),
    "softmin": lambda x: special.softmax(-x, axis=-1),
    "tanhshrink": lambda x: x - np.tanh(x),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_function_computes_its_formula(torch: Any, name: str) -> None:
    found = getattr(torch.nn.functional, name)(torch.Tensor(X)).data
    np.testing.assert_allclose(found, FORMULAS[name](X), rtol=1e-9, atol=1e-12)


def test_losses_compute_their_formulas(torch: Any) -> None:
    stream = np.random.default_rng(5)
    x, y = stream.normal(size=(6, 9)), stream.uniform(0.1, 1, (6, 9))
    label = stream.integers(0, 9, 6)
    functional, tensor = torch.nn.functional, torch.Tensor
    d = np.abs(x - y)
    huber = np.where(d < 1, d * d / 2, d - 0.5).mean()
    cross = -special.log_softmax(x, axis=1)[np.arange(6), label].mean()
    divergence = (special.xlogy(y, y) - y * x).sum() / 6
    for found, right in (
        (functional.smooth_l1_loss(tensor(x), tensor(y)), huber),
        (functional.cross_entropy(tensor(x), tensor(label)), cross),
        (functional.kl_div(tensor(x), tensor(y), reduction="batchmean"), divergence),
    ):
        np.testing.assert_allclose(found.data, right, rtol=1e-12)


@pytest.mark.parametrize(("kind", "fold"), [("AvgPool2d", np.mean), ("MaxPool2d", np.max)])
def test_pooling_folds_its_windows(torch: Any, kind: str, fold: Any) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 7, 8))
    found = getattr(torch.nn, kind)(3, 2, 1)(torch.Tensor(x)).data
    assert found.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(found[1, 2, 1, 1], fold(x[1, 2, 1:4, 1:4]))


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"),
    [(1, 0, 1, 1), (2, 1, 1, 1), ((2, 1), (0, 2), (1, 2), 2), (1, "same", 2, 4)],
)
def test_a_convolution_multiplies_windows_by_weights(
    torch: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> None:
    stream = np.random.default_rng(3)
    x, w, b = (stream.normal(size=s) for s in ((2, 4, 9, 10), (8, 4 // groups, 3, 3), (8,)))
    given = (torch.Tensor(v) for v in (x, w, b))
    found = torch.nn.functional.conv2d(*given, stride, padding, dilation, groups).data
    down, along = stride if isinstance(stride, tuple) else (stride, stride)
    far, wide = dilation if isinstance(dilation, tuple) else (dilation, dilation)
    top, left = (far, wide) if padding == "same" else np.broadcast_to(padding, 2)
    around = np.pad(x, [(0, 0), (0, 0), (top, top), (left, left)])
    for n, o, r, c in ((0, 0, 0, 0), (1, 7, found.shape[2] - 1, found.shape[3] - 1), (1, 3, 2, 1)):
        first = o // (8 // groups) * (4 // groups)
        rows = slice(r * down, r * down + 2 * far + 1, far)
        columns = slice(c * along, c * along + 2 * wide + 1, wide)
        seen = around[n, first : first + 4 // groups, rows, columns]
        np.testing.assert_allclose(found[n, o, r, c], (seen * w[o]).sum() + b[o])


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"),
    [(1, 0, 1, 1), (2, 1, 1, 2), ((2, 3), (0, 1), 2, 1)],
)
def test_a_transposed_convolution_is_the_adjoint_of_the_convolution(
    torch: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> None:
    stream, functional = np.random.default_rng(6), torch.nn.functional
    x, w = stream.normal(size=(2, 4, 9, 10)), stream.normal(size=(8, 4 // groups, 3, 3))
    there = functional.conv2d(
        torch.Tensor(x), torch.Tensor(w), None, stride, padding, dilation, groups
    ).data
    y = stream.normal(size=there.shape)
    given = (torch.Tensor(v) for v in (y, w))
    both = [np.broadcast_to(v, 2).tolist() for v in (stride, padding, dilation)]
    sizes = zip(x.shape[2:], *both, strict=True)
    rest = [(n + 2 * p - 2 * d - 1) % s for n, s, p, d in sizes]
    back = functional.conv_transpose2d(*given, None, stride, padding, rest, groups, dilation).data
    assert back.shape == x.shape
    np.testing.assert_allclose((there * y).sum(), (back * x).sum())


def test_modules_of_convolutions_have_their_parameters(torch: Any) -> None:
    made = torch.nn.Conv1d(4, 6, 5, groups=2, bias=False)
    assert {n: p.shape for n, p in made.named_parameters()} == {"weight": (6, 2, 5)}
    assert made(torch.Tensor(np.ones((2, 4, 9)))).shape == (2, 6, 5)
    back = torch.nn.ConvTranspose3d(4, 6, 3, stride=2, output_padding=1, bias=False)
    assert back(torch.Tensor(np.ones((1, 4, 2, 3, 4)))).shape == (1, 6, 6, 8, 10)
    with pytest.raises(Exception, match="padding_mode='reflect'"):
        torch.nn.Conv3d(4, 6, 5, padding_mode="reflect")


def test_a_task_is_described_without_its_gigabytes_and_reduced(tmp_path: Path) -> None:
    file = tmp_path / "scaled.py"
    file.write_text(TASK)
    task, tracer = torch_task(file, 1 << 14)
    tracer.close()
    assert task.reduced
    assert task.inputs == ("x", "norm_weight", "norm_bias")
    assert [p.name for p in task.attributes] == ["scale"]
    x, weight, _ = task.cases[0].shapes
    assert x[1:2] == weight
    assert np.prod(x) <= 1 << 14
    space: dict[str, Any] = {}
    exec(task.golden, space)
    values = np.random.default_rng(0).normal(size=(2, 8, 6))
    ones, zeros = np.ones(8), np.zeros(8)
    split = values.reshape(2, 4, 12)
    normed = (split - split.mean(-1, keepdims=True)) / np.sqrt(split.var(-1, keepdims=True) + 1e-5)
    right = 3.5 * normed * special.ndtr(normed)
    found = space["golden"](values, ones, zeros)
    np.testing.assert_allclose(found, right.reshape(values.shape), rtol=1e-9, atol=1e-12)


MEAN_OF_SQUARES = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.mean(x ** 2, dim=1)

def get_inputs():
    return [torch.rand(8, 64)]
"""


def test_its_golden_function_tells_where_float32_does_not_hold_it(tmp_path: Path) -> None:
    (tmp_path / "square.py").write_text(MEAN_OF_SQUARES)
    task, tracer = torch_task(tmp_path / "square.py", 1 << 20)
    tracer.close()
    space: dict[str, Any] = {}
    exec(task.golden, space)
    x = np.full((2, 64), 1e19, np.float32)
    assert np.allclose(space["golden"](x), 1e38)
    with np.errstate(over="ignore"):
        assert np.isinf(space[f"golden{task.other_precision}"](x)).all()


@pytest.mark.long
def test_an_operator_is_right_whose_sum_float32_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "square.py").write_text(MEAN_OF_SQUARES)
    settings = CreateSettings(out=tmp_path / "made", from_benchmark=True)
    assert create(str(tmp_path / "square.py"), settings).varied > 10


def test_a_task_that_decides_by_values_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "decides.py"
    file.write_text(TASK.replace("return torch.nn", "return x if x.sum() > 0 else torch.nn"))
    with pytest.raises(InputError, match="decides by a value"):
        torch_task(file, 1 << 14)


ROTARY = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x, cos, sin):
        a, b = torch.chunk(x, 2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin

def get_inputs():
    return [torch.rand(2, 6, 16), torch.rand(6, 16), torch.rand(6, 16)]
"""


def test_halves_of_an_axis_come_through_the_stand_in(tmp_path: Path) -> None:
    file = tmp_path / "rotary.py"
    file.write_text(ROTARY)
    task, tracer = torch_task(file, 1 << 20)
    tracer.close()
    scope: dict[str, Any] = {}
    exec(task.golden, scope)
    stream = np.random.default_rng(5)
    x, cos, sin = stream.normal(size=(2, 6, 10)), *stream.normal(size=(2, 6, 10))
    changed = np.concatenate([-x[..., 5:], x[..., :5]], axis=-1)
    np.testing.assert_allclose(scope["golden"](x, cos, sin), x * cos + changed * sin)


def test_what_sorts_gives_values_and_their_places(torch: Any) -> None:
    x = np.random.default_rng(2).permutation(24).reshape(4, 6).astype(float)
    given = torch.Tensor(x.copy())
    values, places = torch.topk(given, 2, dim=0)
    np.testing.assert_array_equal(values.data, np.sort(x, axis=0)[::-1][:2])
    np.testing.assert_array_equal(np.take_along_axis(x, places.data, 0), values.data)
    lowest = torch.topk(given, 2, largest=False).values.data
    np.testing.assert_array_equal(lowest, np.sort(x, axis=-1)[:, :2])
    np.testing.assert_array_equal(torch.median(given, dim=1).values.data, np.sort(x)[:, 2])
    found = given.clone().scatter_(1, torch.Tensor(np.array([[0], [1], [2], [3]])), 99.0).data
    assert (found[[0, 1, 2, 3], [0, 1, 2, 3]] == 99).all()
    np.testing.assert_array_equal(given.data, x)


def test_tensors_are_stacked_along_a_new_axis(torch: Any) -> None:
    found = torch.stack([torch.Tensor(X), torch.Tensor(-X)], dim=1).data
    np.testing.assert_array_equal(found, np.stack([X, -X], axis=1))


FORWARDS = {
    "causal_softmax": """
        n = x.size(-1)
        mask = torch.triu(torch.ones(x.size(0), n, dtype=torch.bool), diagonal=1)
        return torch.softmax(x.masked_fill(mask, float("-inf")), dim=-1)""",
    "swiglu": """
        a, b = x.chunk(2, dim=-1)
        return F.silu(a) * b""",
    "rms_norm": """
        dtype = x.dtype
        x = x.float()
        return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)).to(dtype)""",
    "activations": """
        y = x.view(x.shape[0], -1)
        y = torch.clamp(F.mish(y) + F.hardswish(y), min=-1.0, max=1.0)
        return y.reshape(x.shape)""",
    "positions": """
        place = torch.arange(x.shape[-1])
        return x * (place[None, :] < 7)""",
    "in_place": """
        x = x * 2
        x += 1
        return torch.atan(x) + (x // 3) % 2""",
    "products": """
        return torch.einsum("ij,kj->ik", x, x) if False else F.linear(x, y, None)""",
    "places": """
        ids = (x * 7).long()
        rows = F.embedding(ids[:, 0], y) + y.index_select(0, ids[:, 1])
        return rows + torch.gather(y, 1, ids)""",
    "gate": """
        values, places = torch.topk(F.softmax(x, dim=-1), 3, dim=-1)
        kept = torch.zeros_like(x).scatter(-1, places, values / values.sum(-1, keepdim=True))
        return kept @ y.t()""",
    "sorted": """
        down, places = x.sort(dim=-1, descending=True)
        low = torch.median(x, dim=-1, keepdim=True).values + x.kthvalue(2, dim=0).values
        return torch.cumsum(down, dim=-1) * low + torch.max(x, dim=1, keepdim=True)[1]""",
    "copied": """
        z = x.clone()
        z[:, 0] = 0.0
        return x + z""",
    "attention": """
        return F.scaled_dot_product_attention(x, y, y, is_causal=True)""",
}
FORWARD_TASK = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x{more}):{body}

def get_inputs():
    return [torch.rand(8, 12){given}]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize("name", FORWARDS)
def test_a_module_is_traced_and_computes_what_it_says(name: str, tmp_path: Path) -> None:
    """`torch_task` compares the function that it writes with the module on random inputs."""
    body = FORWARDS[name]
    both = " y" in body
    file = tmp_path / f"{name}.py"
    file.write_text(
        FORWARD_TASK.format(body=body, more=", y" * both, given=", torch.rand(8, 12)" * both)
    )
    _, tracer = torch_task(file, 1 << 14)
    tracer.close()


EMBEDDED = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, words, features):
        super().__init__()
        self.table = nn.Embedding(words, features)

    def forward(self, ids):
        return self.table(ids) * 2

def get_inputs():
    return [torch.randint(0, 40, (3, 9))]

def get_init_inputs():
    return [40, 24]
"""


def test_the_table_of_an_embedding_is_an_input(tmp_path: Path) -> None:
    file = tmp_path / "embedded.py"
    file.write_text(EMBEDDED)
    task, tracer = torch_task(file, 1 << 14)
    tracer.close()
    assert [list(shape) for shape in task.cases[0].shapes] == [[3, 9], [40, 24]]
    assert "np.take(" in task.golden


def test_an_embedding_that_changes_its_table_is_refused(torch: Any) -> None:
    table = torch.tensor(np.ones((4, 3), np.float32))
    with pytest.raises(Exception, match="max_norm"):
        torch.nn.functional.embedding(torch.tensor([1, 2]), table, max_norm=1.0)
    with pytest.raises(Exception, match="max_norm"):
        torch.nn.Embedding(4, 3, max_norm=1.0)(torch.tensor([1, 2]))


DRAWN = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels, 1, 1) * 0.02)
        self.other = torch.randn(channels, 1, 1)

    def forward(self, x):
        return nn.functional.adaptive_avg_pool2d(x * self.scale, (1, 1))

def get_inputs():
    return [torch.rand(2, 6, 8, 9)]

def get_init_inputs():
    return [6]
"""


def test_a_parameter_that_is_drawn_is_an_input(tmp_path: Path) -> None:
    file = tmp_path / "drawn.py"
    file.write_text(DRAWN.replace("        self.other = torch.randn(channels, 1, 1)\n", ""))
    task, tracer = torch_task(file, 1 << 14)
    tracer.close()
    assert task.inputs == ("x", "scale")
    space: dict[str, Any] = {}
    exec(task.golden, space)
    x, scale = (np.random.default_rng(1).normal(size=s) for s in ((2, 6, 8, 9), (6, 1, 1)))
    right = (x * scale).mean(axis=(2, 3), keepdims=True)
    np.testing.assert_allclose(space["golden"](x, scale), right)


def test_what_is_drawn_and_is_no_parameter_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "drawn.py"
    file.write_text(DRAWN)
    with pytest.raises(InputError, match="for other, which is no parameter"):
        torch_task(file, 1 << 14)
