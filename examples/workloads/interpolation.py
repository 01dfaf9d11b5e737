"""References of the upsample operators: each resizes some last axes by a table of weights an axis.

A gradient applies the transposed tables. Scales of 0 are derived from the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Table = Callable[[int, int, bool], np.ndarray]
"""Weights of (size of the input, size of the output, align_corners): a row for each output."""


def _ratio(size: int, to: int, align_corners: bool) -> float:
    if align_corners:
        return (size - 1) / (to - 1) if to > 1 else 0.0
    return size / to


def _positions(size: int, to: int, align_corners: bool) -> np.ndarray:
    """Where the outputs lie among the inputs."""
    i = np.arange(to)
    ratio = _ratio(size, to, align_corners)
    return i * ratio if align_corners else (i + 0.5) * ratio - 0.5


def linear(size: int, to: int, align_corners: bool) -> np.ndarray:
    at = np.maximum(_positions(size, to, align_corners), 0)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    table = np.zeros((to, size))
    np.add.at(table, (np.arange(to), low), 1 - (at - low))
    np.add.at(table, (np.arange(to), np.minimum(low + 1, size - 1)), at - low)
    return table


def _cubic_weight(x: np.ndarray, a: float) -> np.ndarray:
    """Cubic convolution at distance x."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def cubic(size: int, to: int, align_corners: bool) -> np.ndarray:
    at = _positions(size, to, align_corners)
    base = np.floor(at).astype(int)
    table = np.zeros((to, size))
    for tap in range(-1, 3):
        column = np.clip(base + tap, 0, size - 1)
        np.add.at(table, (np.arange(to), column), _cubic_weight(at - (base + tap), -0.75))
    return table


def _antialiased(
    size: int, to: int, align_corners: bool, reach: int, weight: Callable[..., np.ndarray]
) -> np.ndarray:
    """The filter is as wide as an output where that is wider than an input."""
    ratio = _ratio(size, to, align_corners)
    wide = max(ratio, 1.0)
    table = np.zeros((to, size))
    for i in range(to):
        center = ratio * (i + 0.5)
        first = max(int(center - reach * wide + 0.5), 0)
        end = min(int(center + reach * wide + 0.5), size)
        row = weight((np.arange(first, end) - center + 0.5) / wide)
        table[i, first:end] = row / row.sum()
    return table


def linear_antialiased(size: int, to: int, align_corners: bool) -> np.ndarray:
    return _antialiased(size, to, align_corners, 1, lambda x: np.maximum(1 - np.abs(x), 0))


def cubic_antialiased(size: int, to: int, align_corners: bool) -> np.ndarray:
    return _antialiased(size, to, align_corners, 2, lambda x: _cubic_weight(x, -0.5))


def _picked(size: int, to: int, offset: float) -> np.ndarray:
    table = np.zeros((to, size))
    at = np.floor((np.arange(to) + offset) * (size / to)).astype(int)
    table[np.arange(to), np.minimum(at, size - 1)] = 1
    return table


def nearest(size: int, to: int, align_corners: bool) -> np.ndarray:
    return _picked(size, to, 0.0)


def nearest_exact(size: int, to: int, align_corners: bool) -> np.ndarray:
    return _picked(size, to, 0.5)


def _apply(x: np.ndarray, tables: Sequence[np.ndarray]) -> np.ndarray:
    """Multiply the last axes by a table each."""
    result = x.astype(np.float64)
    for axis, table in zip(range(-len(tables), 0), tables, strict=True):
        result = np.moveaxis(np.moveaxis(result, axis, -1) @ table.T, -1, axis)
    return result.astype(np.float32)


def resized(table: Table) -> Callable[..., np.ndarray]:
    """Gives the last axes the sizes asked for."""

    def golden(
        x: np.ndarray, output_size: Sequence[int], align_corners: bool = False, **scales: float
    ) -> np.ndarray:
        last = x.shape[-len(output_size) :]
        sizes = zip(last, output_size, strict=True)
        return _apply(x, [table(size, int(to), align_corners) for size, to in sizes])

    return golden


def gradient(table: Table, axes: int) -> Callable[..., np.ndarray]:
    """The gradient for an input whose last axes had `input_size`."""

    def golden(
        grad: np.ndarray, input_size: Sequence[int], align_corners: bool = False, **rest: object
    ) -> np.ndarray:
        sizes = zip(input_size[-axes:], grad.shape[-axes:], strict=True)
        return _apply(grad, [table(int(size), to, align_corners).T for size, to in sizes])

    return golden


resize_upsample_trilinear = resized(linear)
upsample_bicubic2d = resized(cubic)
upsample_bicubic2d_aa = resized(cubic_antialiased)
upsample_bilinear2d_aa = resized(linear_antialiased)
upsample_nearest3d = resized(nearest)
upsample_nearest_exact3d = resized(nearest_exact)

upsample_bicubic2d_aa_grad = gradient(cubic_antialiased, 2)
upsample_bilinear2d_aa_backward = gradient(linear_antialiased, 2)
upsample_bilinear2d_grad = gradient(linear, 2)
upsample_trilinear3d_backward = gradient(linear, 3)
upsample_nearest3d_grad = gradient(nearest, 3)
upsample_nearest_exact2d_grad = gradient(nearest_exact, 2)
upsample_nearest_exact3d_grad = gradient(nearest_exact, 3)


def upsample_linear1d(
    x: np.ndarray, size: np.ndarray, align_corners: bool = False, **scale: float
) -> np.ndarray:
    return resized(linear)(x[:, :, 0], size, align_corners)


def upsample_bilinear2d(
    x: np.ndarray, size: np.ndarray, align_corners: bool = False, **scales: float
) -> np.ndarray:
    return resized(linear)(x, size, align_corners)
