"""Goldens that tests trace: plain numpy, as people write references."""

from pathlib import Path

import numpy as np


def gelu(x):
    v = x.astype(np.float64)
    return (0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))).astype(x.dtype)


def scaled_by_one(x, gain):
    return x * gain


def rms_norm(x, gamma, eps: float = 1e-6):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * gamma


def waves(x):
    return np.sin(100 * x) - np.cos(x)


def leaky(x, slope: float = 0.01):
    return np.where(x > 0, x, x * slope)


def swish_norm(x, gamma, epsilon=1e-5):
    """Without a cast: numpy rounds every step in float16."""
    y = x / (1.0 + np.exp(-x))
    return y / np.sqrt(np.mean(y * y, axis=-1, keepdims=True) + epsilon) * gamma


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(x.dtype)


def group_norm(x, gamma, beta, groups: int = 4, eps: float = 1e-5):
    n, c = x.shape[:2]
    v = x.astype(np.float64).reshape(n, groups, -1)
    v = (v - v.mean(axis=-1, keepdims=True)) / np.sqrt(v.var(axis=-1, keepdims=True) + eps)
    return (v.reshape(x.shape) * gamma.reshape(1, c, 1) + beta.reshape(1, c, 1)).astype(x.dtype)


def batch_norm(x):
    v = x.astype(np.float64)
    v = v - v.mean(axis=(0, 2), keepdims=True)
    return (v / np.sqrt((v * v).mean(axis=(0, 2), keepdims=True) + 1e-5)).astype(x.dtype)


def middle_product(x):
    return np.prod(x.astype(np.float64), axis=1).astype(x.dtype)


def cosine_loss(p, t):
    p, t = p.astype(np.float64), t.astype(np.float64)
    size = np.sqrt((p * p).sum(1)) * np.sqrt((t * t).sum(1))
    return np.mean(1 - (p * t).sum(1) / np.maximum(size, 1e-8))


def step(p, m, v, lr: float = 1e-3):
    r = m / (np.sqrt(v) + 1e-6)
    trust = np.sqrt((p.astype(np.float64) ** 2).sum()) / np.sqrt((r.astype(np.float64) ** 2).sum())
    return p - lr * trust * r, r


def picked(x, label):
    v = x.astype(np.float64)
    return np.take_along_axis(v, label[:, None], axis=1)[:, 0]


def from_the_end(x):
    return np.flip(np.cumsum(np.flip(x, 1), axis=1), 1)


def decides(x):
    return x if x.sum() > 0 else -x


def transposed(x):
    return x + x.T


def drawn_by_chance(p, u):
    total = np.cumsum(p, axis=-1)
    return (total[:, None, :] < u[:, :, None] * total[:, None, -1:]).sum(-1).astype(np.float32)


def five_powers(x):
    return x, x**2, x**3, x**4, x**5


def best_of_rows(x, ids):
    places = np.argsort(-x, axis=-1)[..., :3]
    centred = x - x.mean(axis=-1, keepdims=True)
    best = np.take_along_axis(x, places, axis=-1)
    return best, places, places.astype(np.int32), centred[ids]


def searches(x):
    return np.argpartition(x, 3, axis=-1)


def reads_secrets(x):
    return x + len(Path("/etc/passwd").read_text())


def running(x):
    return np.cumsum(x, axis=-1) + np.cumprod(x, axis=-1)


def columns_first(x, bias):
    """To channels first, with a bias of each channel."""
    return np.swapaxes(x + bias, 1, 2)


def heads_first(x):
    return np.exp(x).transpose(0, 2, 1, 3)


def turned_softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(x.dtype).T


def sum_of_turned(x, y):
    return x + y.T


def branches(x, bound: float = 1.0):
    """Element by element, as people write what they think of as scalar."""
    flat = [bound if v > bound else 0.5 * v for v in np.reshape(x, -1)]
    return np.reshape(np.array(flat, x.dtype), x.shape)


def is_large(x):
    return np.abs(x) > 0.5


def first_largest(x):
    return np.argmax(x, axis=-1)


def bounded(x):
    y = x.copy()
    y[y > 1.25] = 1.25
    return y


def mean_of_all(*given, scale: float = 1.0):
    total = given[0]
    for one in given[1:]:
        total = total + one
    return total * (scale / len(given))


def rotary(x, cos, sin):
    """Both halves of the last axis, turned by an angle."""
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def rotary_of_whole(x, cos, sin):
    """The same as people write it: the halves change places."""
    half = x.shape[-1] // 2
    changed = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * cos + changed * sin


def gated(x):
    a, b = np.split(x, 2, axis=-1)
    return a / (1 + np.exp(-a)) * b


def first_rows(x, bias):
    """A range of an axis that is not the last, and its neighbours' difference."""
    y = x[:, 1:] - x[:, :-1]
    return y[:, :3] + bias


def beside(x, y):
    """Parts that differ in length."""
    return np.concatenate([np.exp(x), y[:, 2:] * 2], axis=1)


def on_top(x, y):
    return np.stack([x + y, x - y], axis=1)


def of_class_token(x):
    return np.exp(x[:, 0])


def normalized_parts(x):
    a, b = np.split(x, 2, axis=1)
    y = np.concatenate([a, 2 * b], axis=1)
    return y / np.sqrt(np.sum(y * y, axis=1, keepdims=True))


def every_other(x):
    return x[..., ::2] + x[..., 1::2]


def every_third_row(x, bias):
    """Steps along an axis that is not the last, of what is computed."""
    return np.exp(x)[:, 1::3] * bias


def steps_of_steps(x):
    """The middle of pairs, and the last of each three of them."""
    return x[1:, ::2][:, 2::3] - np.mean(x[1:, 1::2][:, 2::3], axis=1, keepdims=True)


def rotary_of_pairs(x, cos, sin):
    """Neighbours turned by an angle."""
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


def pairs_of_whole(x, cos, sin):
    """The same as people write it: neighbours change places."""
    changed = np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
    return x * cos + changed * sin


def rows_in_turn(x, y):
    """Along an axis that is not the last; and what takes turns taken apart again."""
    z = np.exp(np.stack([x, y, x + y], axis=1).reshape(-1, x.shape[-1]))
    return z, z[1::3] * 2


def backwards(x):
    return x[..., ::-2]


def of_two_lengths(x, y):
    """Two sums over axes of different lengths."""
    return x.sum(axis=1) * y.sum(axis=1)


def whole_times(x, y):
    return np.floor(x / y) + x // 49.0


def rms_norm_grad(dy, x, gamma, eps=1e-6):
    """Gradients of the input, row by row, and of gamma, over all rows."""
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    d = dy * gamma
    dx = d * r - x * r**3 * np.mean(d * x, axis=-1, keepdims=True)
    return dx, np.sum(dy * x * r, axis=0)


def attention(q, k, v):
    """Without a mask."""
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True) @ v


def sums_each_way(x):
    """Rows and columns in turn, twice, as Sinkhorn does."""
    for _ in range(2):
        x = x / x.sum(axis=-1, keepdims=True)
        x = x / x.sum(axis=-2, keepdims=True)
    return x


def sums_of_rows_and_columns(x):
    """Two outputs over different axes."""
    return x.sum(axis=0), x.sum(axis=1)


def total_variation(x):
    """Two sums to one number over ranges of different lengths."""
    return np.abs(x[:, 1:] - x[:, :-1]).sum() + np.abs(x[1:] - x[:-1]).sum()


def product_normalized(x, w):
    """A product, then mean and variance of its columns."""
    y = x @ w.T
    return (y - y.mean(axis=0)) / np.sqrt(y.var(axis=0) + 1e-5)


def causal_attention(q, k, v):
    """Scores of later places do not count."""
    s = np.einsum("bmd,bnd->bmn", q, k) / np.sqrt(q.shape[-1])
    n = s.shape[-1]
    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bmn,bnd->bmd", p / p.sum(axis=-1, keepdims=True), v)


def gated_by_keys(q, k):
    """A tile that no loop goes over meets a sum over another axis."""
    return (np.maximum(q, 0) + 1) * (np.maximum(k, 0) + 1).sum(axis=1, keepdims=True)


def sum_before(x):
    """All but the last of the running sums, behind a zero."""
    return np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x, axis=1)[:, :-1]], axis=1)


def scaled_by_diagonal(a, b):
    """A product with a matrix that has a diagonal only."""
    return np.diag(a) @ b


def by_own_diagonal(a, b):
    """Columns by the diagonal of a square matrix."""
    return b * np.diag(a)[None, :]


def transposed_product(a, b):
    """The first factor is stored by columns."""
    return a.T @ b


def squeeze_and_excite(x, w1, w2):
    """Channels by what two small products make of their means."""
    h = np.maximum(x.mean(axis=(2, 3)) @ w1, 0) @ w2
    return x / (1 + np.exp(-h))[:, :, None, None]


def sums_of_kept(kept0):
    """An input that is named as what phases keep is."""
    return sums_each_way(kept0)


def seen(x, size, pad=0):
    """Windows along the last axes of samples and channels, with zeros around."""
    inner = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * inner)
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=tuple(range(2, 2 + inner)))


def convolved(x, w, b):
    """A convolution with zeros around, and an activation behind it."""
    return np.maximum(np.einsum("nchwij,ocij->nohw", seen(x, (3, 3), 1), w) + b[:, None, None], 0)


def windows_apart(x, w):
    """Every second window along one axis, every third along the other."""
    return np.einsum("nchwij,ocij->nohw", seen(x, (3, 2))[:, :, ::2, ::3], w)


def each_channel(x, w):
    """A depthwise convolution."""
    return np.einsum("nchwij,cij->nchw", seen(x, (3, 3)), w)


def contracted(x, w):
    """The same as a contraction, whose result has the outputs last."""
    return np.moveaxis(np.tensordot(seen(x, (3, 2)), w, axes=([1, 4, 5], [1, 2, 3])), -1, 1)


def filtered(x, w):
    """One signal."""
    return np.einsum("lk,k->l", np.lib.stride_tricks.sliding_window_view(x, 5), w)


def in_volumes(x, w):
    return np.einsum("ncdhwijk,ocijk->nodhw", seen(x, (2, 3, 2)), w)


def convolved_and_normed(x, w):
    """Sums over all places, of what sums over channels."""
    y = np.einsum("nchwij,ocij->nohw", seen(x, (3, 3)), w)
    y = y - y.mean(axis=(2, 3), keepdims=True)
    return y / np.sqrt((y * y).mean(axis=(2, 3), keepdims=True) + 1e-5)


def convolved_twice(x, w, v):
    y = np.maximum(np.einsum("nchwij,ocij->nohw", seen(x, (3, 3)), w), 0)
    return np.einsum("nchwij,ocij->nohw", seen(y, (3, 3), 1), v)


def convolved_and_pooled(x, w):
    y = np.einsum("nclk,ock->nol", seen(x, (5,)), w)
    return np.lib.stride_tricks.sliding_window_view(y, 2, axis=-1)[:, :, ::2].max(axis=-1)


def smallest_around(x):
    return np.min(np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 2)), axis=(-2, -1))


def mean_around(x):
    return np.lib.stride_tricks.sliding_window_view(x, 3, axis=-1)[..., ::2, :].mean(axis=-1)


def at_places(table, weights, order, places):
    """Whole rows, of the same length too, and single elements at the places in two inputs."""
    moved = table[order.astype(np.int64)]
    return (table + moved) * weights[places.astype(np.int64)][:, None]


def turned_by_one(x, bias):
    """The last column of each row is read and stored by itself, in tiles of several rows."""
    return np.roll(x, 1, axis=-1) - x[..., :1] * bias[:, None]


def running_extremes(x):
    """Of numbers below zero, so that a scan that begins with it is wrong."""
    return np.maximum.accumulate(-np.abs(x), axis=-1), np.minimum.accumulate(np.abs(x), axis=-1)
