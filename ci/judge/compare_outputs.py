"""Compares a launch's outputs with the golden ones, element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ci.judge.accuracy import FORMATS, Accuracy, accuracy_of
from ci.model.amount import amount
from ci.model.dtypes import BY_NAME, from_bfloat16, unpack
from ci.model.launch import Array, Tensors
from ci.model.workload import Tolerance
from rules.tolerances import default_tolerances

WORST_SHOWN = 5
"""How many of the worst elements the evidence lists."""


EXACT = Tolerance(relative=0.0, absolute=0.0)
"""For dtypes that rules/tolerances.yml does not name: all of them are packed bits."""


@dataclass(frozen=True)
class Compared:
    """What a comparison of one launch found. `message` is '' when everything agrees."""

    elements: int
    worst_error: float
    """Largest |actual − golden| as a share of its tolerance; infinite for a misplaced NaN."""
    message: str = ""
    details: str = ""
    overflown: bool = False
    """float16 holds no number where the right one is far from its largest; rounding never does."""

    @property
    def agrees(self) -> bool:
        """All outputs are within tolerance."""
        return not self.message


def compare_outputs(
    actual: Tensors,
    golden: Tensors,
    names: Sequence[str],
    dtypes: Sequence[str],
    overrides: Mapping[str, Tolerance],
) -> Compared:
    """Compare every output; `names` and `dtypes` are those of the op definition, in order.

    The first output that disagrees gives the message; counts go over all of them.
    """
    elements, worst, message, details, overflown = 0, 0.0, "", "", False
    for name, dtype, ours, theirs in zip(names, dtypes, actual, golden, strict=True):
        tolerance = overrides.get(dtype) or default_tolerances().get(dtype, EXACT)
        for label, one, other in _pairs(name, ours, theirs):
            found = compare_arrays(label, dtype, one, other, tolerance)
            elements += found.elements
            worst = max(worst, found.worst_error)
            overflown = overflown or found.overflown
            if not message:
                message, details = found.message, found.details
    return Compared(elements, worst, message, details, overflown)


def compare_arrays(
    label: str, dtype: str, actual: Array, golden: Array, tolerance: Tolerance
) -> Compared:
    """Compare one tensor. `dtype` tells bfloat16 (carried as uint16 bits) from uint16."""
    if actual.shape != golden.shape:
        return Compared(
            0, np.inf, f"output {label} has shape {actual.shape}, golden has {golden.shape}"
        )
    if golden.size == 0 or _identical(actual, golden):
        return Compared(golden.size, 0.0)
    if np.issubdtype(golden.dtype, np.complexfloating):
        actual, golden = _components(actual), _components(golden)
    known = BY_NAME.get(dtype)
    if known is not None and known.bits < 8:
        actual, golden = unpack(actual, known), unpack(golden, known)
    error = _error_share(_plain(actual, dtype), _plain(golden, dtype), tolerance)
    wrong = error > 1.0
    count = int(np.count_nonzero(wrong))
    worst = float(error.max())
    misplaced = bool(np.isinf(error).any())
    if not misplaced and count <= tolerance.outliers * error.size:
        return Compared(golden.size, worst)
    index = np.unravel_index(int(np.argmax(error)), error.shape)
    message = (
        f"output {label} ({dtype}) is wrong in {count:,} of {amount(error.size, 'element')};"
        " worst at "
        f"{_place(index)}: got {_show(actual, dtype, index)}, "
        f"golden {_show(golden, dtype, index)}"
    )
    worst_ones = _list_worst(error, actual, golden, dtype)
    return Compared(golden.size, worst, message, worst_ones, _overflown(actual, golden))


def _overflown(actual: Array, golden: Array) -> bool:
    if actual.dtype != np.float16:
        return False
    right = np.abs(golden.astype(np.float64))
    near = right < float(np.finfo(np.float16).max) / 2
    return bool((near & ~np.isfinite(actual)).any())


def accuracies(
    actual: Tensors,
    golden: Tensors,
    names: Sequence[str],
    dtypes: Sequence[str],
    scale: float,
    swayed: Sequence[Tensors] = (),
) -> tuple[Accuracy, ...]:
    """The accuracy of every tensor of a dtype in `FORMATS`, as `compare_outputs` takes them.

    `golden` may be float64 for any of them, `scale` is the largest input. `swayed` holds what is
    right for inputs that are moved a little; together they make the sway of `accuracy_of`.
    """
    found = []
    for index, (name, dtype, ours, theirs) in enumerate(
        zip(names, dtypes, actual, golden, strict=True)
    ):
        moved = [_pairs(name, other[index], theirs) for other in swayed]
        for place, (label, one, right) in enumerate(_pairs(name, ours, theirs)):
            if dtype not in FORMATS or one.shape != right.shape:
                continue
            a, g = _numbers(one, dtype), _numbers(right, dtype)
            with np.errstate(invalid="ignore", over="ignore"):  # infinities are left out later
                apart = [np.abs(_numbers(pairs[place][1], dtype) - g) for pairs in moved]
            sway = np.sum(apart, axis=0) if apart else None
            found.append(accuracy_of(label, dtype, a, g, scale, sway))
    return tuple(found)


def _numbers(values: Array, dtype: str) -> npt.NDArray[np.float64]:
    if np.issubdtype(values.dtype, np.complexfloating):
        values = _components(values)
    return _plain(values, dtype).astype(np.float64)


def _identical(actual: Array, golden: Array) -> bool:
    """Whether two tensors have the same bytes: usual for exact operators, and quick to see."""
    if actual.dtype != golden.dtype or not (
        actual.flags.c_contiguous and golden.flags.c_contiguous
    ):
        return False
    return np.array_equal(actual.reshape(-1).view(np.uint8), golden.reshape(-1).view(np.uint8))


def _error_share(
    actual: npt.NDArray[Any], golden: npt.NDArray[Any], tolerance: Tolerance
) -> npt.NDArray[np.float64]:
    """|actual − golden| over its tolerance; infinite where NaN or infinities differ in place."""
    if not np.issubdtype(golden.dtype, np.floating):
        return _integer_error_share(actual, golden, tolerance)
    with np.errstate(all="ignore"):
        difference = np.atleast_1d(np.abs(actual - golden))  # a scalar's is no array
        allowed = np.atleast_1d(np.abs(golden))
        allowed *= tolerance.relative
        allowed += tolerance.absolute
        special = ~np.isfinite(difference)
        # Without any tolerance a difference of zero is right and every other is wrong.
        share = np.divide(difference, allowed, out=allowed, where=difference != 0)
    share[difference == 0] = 0.0
    if special.any():
        same = (np.isnan(actual) & np.isnan(golden)) | (actual == golden)
        share = np.where(special, np.where(same, 0.0, np.inf), share)
    return np.asarray(share, np.float64).reshape(golden.shape)


def _integer_error_share(
    actual: npt.NDArray[Any], golden: npt.NDArray[Any], tolerance: Tolerance
) -> npt.NDArray[np.float64]:
    if tolerance.absolute == 0 and tolerance.relative == 0:
        # float64 would round large int64 values together. A wrong element counts as 2: above
        # the tolerance, yet finite, so that the workload's share of outliers still applies.
        return np.asarray(np.where(actual == golden, 0.0, 2.0))
    difference = np.abs(actual.astype(np.float64) - golden.astype(np.float64))
    allowed = tolerance.absolute + tolerance.relative * np.abs(golden.astype(np.float64))
    return np.asarray(np.where(difference == 0, 0.0, difference / np.maximum(allowed, 1e-300)))


def _plain(array: Array, dtype: str) -> npt.NDArray[np.generic]:
    """Values to compute with: floats as float64, bfloat16 from its bits, others as they are."""
    if dtype == "bfloat16" and array.dtype == np.uint16:
        array = from_bfloat16(array)
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


def _components(array: Array) -> Array:
    """Real and imaginary parts along a new last axis."""
    return np.stack([array.real, array.imag], axis=-1)


def _pairs(
    name: str, actual: Array | list[Array] | None, golden: Array | list[Array] | None
) -> list[tuple[str, Array, Array]]:
    if isinstance(golden, list):
        assert isinstance(actual, list)
        both = zip(actual, golden, strict=True)
        return [(f"{name}[{i}]", a, g) for i, (a, g) in enumerate(both)]
    if golden is None or actual is None:
        return []
    assert not isinstance(actual, list)
    return [(name, actual, golden)]


def _place(index: tuple[np.intp, ...]) -> str:
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def _show(array: Array, dtype: str, index: tuple[np.intp, ...]) -> str:
    value = _plain(array, dtype)[index]
    return f"{float(value):.7g}" if np.issubdtype(value.dtype, np.floating) else str(value)


def _list_worst(error: npt.NDArray[np.float64], actual: Array, golden: Array, dtype: str) -> str:
    """One line for each of the worst elements, and where the wrong ones begin and end."""
    flat = error.ravel()
    wrong = np.flatnonzero(flat > 1.0)
    order = wrong[np.argsort(-flat[wrong], kind="stable")][:WORST_SHOWN]
    lines = [f"wrong elements lie between flat index {wrong[0]} and {wrong[-1]}"]
    for at in order:
        index = np.unravel_index(int(at), error.shape)
        lines.append(
            f"{_place(index)} got {_show(actual, dtype, index)} golden "
            f"{_show(golden, dtype, index)} ({flat[at]:.3g} x tolerance)"
        )
    return "\n".join(lines)
