"""How far a launch's outputs lie from the right ones in units in the last place (ulp), by size.

A tolerance says when a result may be called right; with an absolute part it lets small outputs be
anything. This tells how accurate an operator is, so that a candidate can be held to the accuracy
of the original operator, for large and for small outputs alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEW_ULPS = 4.0
"""What another order of operations may cost: a product by a reciprocal instead of a quotient, a sum
in another order and the rounding of the result are each one to two."""

WORSE = 4.0
"""A candidate's error over the baseline's own, at most. The largest of some dozens of rounding
errors varies twofold from one order of summation to another; fewer bits in an intermediate value
cost 8 times (bfloat16 to float16) to 8192 times (float32 to float16)."""

KNOWN = 32
"""Elements after which the largest error among them says how accurate the operator is there."""

SHARE = 90
"""Percentile of the errors that stands for most elements; cancellation spoils single ones."""

FORMATS: Mapping[str, tuple[int, int]] = {
    "float16": (10, -14),
    "bfloat16": (7, -126),
    "float32": (23, -126),
    "complex64": (23, -126),
}
"""Bits of the fraction and exponent of the smallest normal number (IEEE 754; bfloat16 as float32).
What is not here is not judged by ulp: the golden itself is no better than float64."""


@dataclass(frozen=True)
class Worst:
    """The largest error among the elements of a binade, 2^k ≤ |golden| < 2^(k+1)."""

    ulps: float
    count: int
    place: tuple[int, ...]
    actual: float
    golden: float


@dataclass(frozen=True)
class Accuracy:
    """Errors of one output tensor, in ulp of its dtype at the golden value."""

    label: str
    binades: Mapping[int, Worst] = field(default_factory=dict)
    larger: float = 0.0
    """`SHARE` percentile of errors in the half of the elements with the larger golden values."""
    smaller: float = 0.0
    """The same in the other half. Of fewer than `KNOWN` elements both are 0."""
    scale: float = 0.0
    """The largest input."""
    turned: tuple[int, ...] | None = None
    """Where a zero first has the other sign than the golden's zero; None where none has."""

    @property
    def count(self) -> int:
        """Elements that were compared."""
        return sum(w.count for w in self.binades.values())


@dataclass(frozen=True)
class Usual:
    """What the baseline errs in the launches of the workload: a launch of few elements may be
    accurate by luck, or have a result that nearly cancels."""

    ulps: float = 0.0
    """Error in ulps of values within 2 binades of the largest one."""
    share: float = 0.0
    """Error of any value, as a share of the largest input."""


def usual(launches: Iterable[Accuracy]) -> Usual:
    """The largest of the errors."""
    found = Usual()
    for one in launches:
        top = max(one.binades, default=0)
        large = [w.ulps for k, w in one.binades.items() if k > top - 2]
        errors = [abs(w.actual - w.golden) for w in one.binades.values()]
        share = max(errors, default=0.0) / one.scale if one.scale else 0.0
        found = Usual(max(found.ulps, *large, 0.0), max(found.share, share))
    return found


NOTHING = 2.0**-45
"""Golden values below this share of the largest input are zero but for the golden's own rounding,
that of some hundred additions in float64."""

CANCELLED = 2.0**-22
"""What may be in their place, as a share of the largest input: what is left of a difference in
single precision, `FEW_ULPS` of it."""


def accuracy_of(
    label: str,
    dtype: str,
    actual: Floats,
    golden: Floats,
    scale: float = 0.0,
    sway: Floats | None = None,
) -> Accuracy:
    """Accuracy of a tensor; elements that are not finite in both are left out.

    `dtype` is one of `FORMATS`, `scale` the largest input. `sway` says how far rounding the inputs
    moves each golden value. Where that is much more than for most of them, terms cancelled, and
    every order of operations loses as much: up to `WORSE` times the sway is no error there.
    """
    bits, least = FORMATS[dtype]
    a, g = actual.ravel(), golden.ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(a - g)
    finite = np.isfinite(error)
    places = None if finite.all() else np.flatnonzero(finite)
    if places is not None:
        a, g, error = a[places], g[places], error[places]
    if not g.size:
        return Accuracy(label)
    zeros = (a == 0) & (g == 0) & (np.signbit(a) != np.signbit(g))
    turned = _place(int(np.argmax(zeros)), places, golden) if zeros.any() else None
    size = np.abs(g)
    nothing = size <= NOTHING * scale
    if nothing.any():
        error[nothing & (np.abs(a) <= CANCELLED * scale)] = 0.0
    # The exponent as float64 stores it: 0 and subnormal numbers have the least one.
    exponents = np.maximum((size.view(np.int64) >> 52) - 1023, least)
    if least < FORMATS["float16"][1]:  # what lies below may be flushed to zero
        error[np.maximum(np.abs(a), size) < 2.0**least] = 0.0
    ulp = ((exponents - bits + 1023) << 52).view(np.float64)
    if sway is not None:
        sway = sway.ravel() if places is None else sway.ravel()[places]
        moved = np.nan_to_num(sway, nan=0.0, posinf=0.0)
        cancelled = moved / ulp > WORSE * np.percentile(moved / ulp, SHARE)
        error[cancelled & (error <= WORSE * moved)] = 0.0
    ulps = error / ulp
    binades, first = {}, int(exponents.min())
    group = exponents - first
    counts = np.bincount(group)
    worst = np.zeros(counts.size)
    np.maximum.at(worst, group, ulps)
    largest = np.flatnonzero(ulps == worst[group])
    for index, at in zip(*np.unique(group[largest], return_index=True), strict=True):
        at = largest[at]
        binades[first + int(index)] = Worst(
            float(ulps[at]),
            int(counts[index]),
            _place(int(at), places, golden),
            float(a[at]),
            float(g[at]),
        )
    middle = np.median(size)
    larger, smaller = (_most(ulps[half]) for half in (size >= middle, size < middle))
    return Accuracy(label, binades, larger, smaller, scale, turned)


def _place(at: int, places: npt.NDArray[np.intp] | None, golden: Floats) -> tuple[int, ...]:
    """Where the element `at` of those that are finite lies in its tensor."""
    index = np.unravel_index(at if places is None else int(places[at]), golden.shape)
    return tuple(int(i) for i in index)


def less_accurate(now: Accuracy, before: Accuracy, elsewhere: Usual) -> str:
    """What `now` loses against `before` beyond `WORSE` and `FEW_ULPS`; '' when it does not."""
    share = elsewhere.share if now.count < KNOWN else 0.0
    for k, worst in sorted(now.binades.items()):
        own = _noise(before, k)
        if abs(worst.actual - worst.golden) <= WORSE * share * now.scale:
            continue
        if worst.ulps > max(FEW_ULPS, WORSE * max(own, elsewhere.ulps)):
            relative = abs(worst.actual - worst.golden) / abs(worst.golden or 1.0)
            return (
                f"output {now.label} at {list(worst.place)} is {worst.actual:.9g}, right is "
                f"{worst.golden:.9g}: it errs by {worst.ulps:.3g} ulp ({relative:.2g} of the value)"
                f", the original operator by at most {own:.3g} ulp on values of that size"
            )
    for which, ours, theirs in (
        ("larger values", now.larger, before.larger),
        ("smaller values", now.smaller, before.smaller),
    ):
        if ours > max(FEW_ULPS, WORSE * max(theirs, elsewhere.ulps)):
            return (
                f"a tenth of the {which} of output {now.label} err by {ours:.3g} ulp and"
                f" more, in the original operator by {theirs:.3g}"
            )
    if now.turned is not None and before.turned is None:
        return (
            f"output {now.label} at {list(now.turned)} is a zero of the other sign than the right"
            " one; the original operator gives each zero its sign"
        )
    return ""


def _noise(before: Accuracy, binade: int) -> float:
    """The baseline's largest error on values of a binade, in that binade's ulp.

    Of the binade and smaller values. Where they are fewer than `KNOWN`, chance made their errors
    small or large, and those of larger values count too, as far as they are more than the rounding
    of the result.
    """
    found = max(
        (w.ulps * 2.0 ** (k - binade) for k, w in before.binades.items() if k <= binade),
        default=0.0,
    )
    seen = sum(w.count for k, w in before.binades.items() if k <= binade)
    for k in sorted(k for k in before.binades if k > binade):
        if seen >= KNOWN:
            break
        found = max(found, (before.binades[k].ulps - 1.0) * 2.0 ** (k - binade))
        seen += before.binades[k].count
    return found


def _most(ulps: Floats) -> float:
    return float(np.percentile(ulps, SHARE)) if ulps.size >= KNOWN else 0.0
