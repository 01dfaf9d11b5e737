"""References of the operators of ops-math that move, join or reduce elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


def amp_update_scale(
    scale: Array,
    tracker: Array,
    found_inf: Array,
    growth_factor: float,
    backoff_factor: float,
    growth_interval: int,
) -> tuple[Array, Array]:
    if found_inf[0] > 0:
        return scale * backoff_factor, np.zeros_like(tracker)
    if tracker[0] + 1 == growth_interval:
        return scale * growth_factor, np.zeros_like(tracker)
    return scale, tracker + 1


def as_strided(x: Array, size: Array, stride: Array, offset: Array) -> Array:
    places = np.indices([int(n) for n in size])
    return x[int(offset[0]) + np.tensordot(stride, places, 1)]


def cholesky(x: Array, upper: bool) -> Array:
    return np.linalg.cholesky(x.astype(np.float64))


def chunk_cat(x: list[Array], dim: int, num_chunks: int) -> Array:
    return np.concatenate([part.reshape(num_chunks, -1) for part in x], axis=1)


def complex_v3(real: Array, imag: Array) -> Array:
    return (real + 1j * imag).astype(np.complex64)


def concat_dv2(x: list[Array], concat_dim: int) -> Array:
    return np.concatenate(x, axis=concat_dim)


def concat_v2(x1: Array, x2: Array, d: int) -> Array:
    return np.concatenate([x1, x2], axis=d)


def diag_part(x: Array) -> Array:
    return np.diagonal(x)


def dot_v2(x1: Array, x2: Array) -> Array:
    return np.array([np.dot(x1.astype(np.float64), x2)])


def eye_v2(x: Array, rows: int, cols: int) -> Array:
    return np.eye(rows, cols)


def ger_v2(x: Array, y: Array, a: Array, alpha: float) -> Array:
    return alpha * np.outer(x.astype(np.float64), y) + a


def accumulate_nv2(x: list[Array], N: int = 1) -> Array:
    return np.sum(np.stack([part.astype(np.float64) for part in x]), axis=0)


def kl_div_v2(x: Array, target: Array, reduction: str, log_target: bool) -> Array:
    return target * (np.log(target.astype(np.float64)) - x)


def lin_space_d(start: Array, end: Array, num: Array) -> Array:
    return np.linspace(start[0], end[0], int(num[0]))


def logdet(x: Array) -> Array:
    sign, value = np.linalg.slogdet(x.astype(np.float64))
    return np.where(sign > 0, value, np.nan)


def mul_addn(x1: list[Array], x2: list[Array], N: int) -> Array:
    return np.sum([a.astype(np.float64) * b for a, b in zip(x1, x2, strict=True)], axis=0)


def onehot(x: Array, depth: int) -> Array:
    return (x[:, None] == np.arange(depth)).astype(np.int32)


def pack_v2(x: Array, y: Array, d: int) -> Array:
    return np.stack([x, y], axis=d)


def pdist(x: Array, p: float) -> Array:
    first, second = np.triu_indices(len(x), 1)
    apart = np.abs(x[first].astype(np.float64) - x[second])
    return np.sum(apart**p, axis=1) ** (1 / p)


def polar(radius: Array, angle: Array) -> Array:
    return (radius * np.exp(1j * angle.astype(np.float64))).astype(np.complex64)


def range_of(start: Array, end: Array, step: Array) -> Array:
    return np.arange(start[0], end[0], step[0])


def real(x: Array, Tout: int) -> Array:
    return x.real


def reduce_max_v2(x: Array, axes: int, keepdims: int) -> Array:
    return x.max(axis=axes, keepdims=bool(keepdims))


def reduce_min_v2(x: Array, axes: int, keepdims: int) -> Array:
    return x.min(axis=axes, keepdims=bool(keepdims))


def reduce_sum_v2(x: Array, axes: int, keepdims: int) -> Array:
    return x.astype(np.float64).sum(axis=axes, keepdims=bool(keepdims))


def reflection_pad1d_v2(x: Array, paddings: Array) -> Array:
    return np.pad(x, ((0, 0), tuple(int(p) for p in paddings)), mode="reflect")


def roll(x: Array, shifts: Sequence[int], dims: Sequence[int]) -> Array:
    return np.roll(x, shifts, dims)


def segsum(x: Array) -> Array:
    """e to the sum of the elements behind j up to i, 0 above the diagonal."""
    total = np.cumsum(x.astype(np.float64), axis=-1)
    sums = total[..., :, None] - total[..., None, :]
    size = x.shape[-1]
    return np.where(np.tril(np.ones((size, size), bool)), np.exp(sums), 0)


def select_v3(x: Array, y: Array, b: Array) -> Array:
    return np.where(b != 0, x, y)


def sign_bits_unpack(bits: Array) -> Array:
    return np.where(np.unpackbits(bits, bitorder="little"), 1, -1)


def slice_v3(x: Array, begin: Array, size: Array) -> Array:
    return x[tuple(slice(int(b), int(b) + int(s)) for b, s in zip(begin, size, strict=True))]


def sort_with_index(
    x: Array, index: Array, axis: int, descending: bool, stable: bool
) -> tuple[Array, Array]:
    order = np.argsort(x, axis=axis, kind="stable")
    return np.take_along_axis(x, order, axis), np.take_along_axis(index, order, axis)


def split(x: Array, indices_or_sections: Sequence[int], axis: int) -> list[Array]:
    return np.split(x, indices_or_sections[0], axis)


def tile(x: Array, multiples: Array) -> Array:
    return np.tile(x, [int(m) for m in multiples])


def transpose_v2(x: Array, perm: Array) -> Array:
    return np.transpose(x, [int(p) for p in perm])


def tril(x: Array, diagonal: int = 0) -> Array:
    return np.tril(x, diagonal)


def triu(x: Array, diagonal: int = 0) -> Array:
    return np.triu(x, diagonal)


def unfold_grad(grad: Array, sizes: Array, dim: int, size: int, step: int) -> Array:
    result = np.zeros([int(n) for n in sizes])
    for part in range(grad.shape[dim]):
        window = np.moveaxis(result, dim, -1)[..., part * step : part * step + size]
        window += np.take(grad, part, dim)
    return result
