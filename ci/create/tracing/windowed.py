"""Windows of a tensor that a golden function looks at: folded, or multiplied by weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ci.create.tracing import definitions
from ci.create.tracing.array import Traced, axes_of, lifted, reduced, reshaped
from ci.create.tracing.functions import dots, transpose, windows
from ci.create.tracing.tape import Untraceable

_USES = (
    "It does more with windows than is traced: their sum, mean, max or min, every n-th of them, and"
    " numpy.einsum or numpy.tensordot with weights."
)


class Windowed(NDArrayOperatorsMixin):
    """Windows along the last axes of a tensor: its axes, then those of a window."""

    __array_priority__ = 2000

    def __init__(self, x: Traced, size: Sequence[int], step: Sequence[int] = ()) -> None:
        """`x` with a window of `size` from each place, or from every `step`-th."""
        self.x, self.size = x, tuple(size)
        self.step = tuple(step) or (1,) * len(self.size)

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.x.sizes) + len(self.size)

    def __array_function__(self, function: Any, _: Any, args: Any, options: Any) -> Any:
        name = function.__name__
        if name == "einsum" and len(args) == 3:
            return self._einsum(*args)
        if name == "tensordot":
            return self._tensordot(*args, **options)
        kind = {"amax": "max", "amin": "min"}.get(name, name)
        if kind in ("sum", "mean", "max", "min") and args[0] is self:
            return self._folded(kind, *args[1:], **options)
        raise Untraceable(_USES)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        raise Untraceable(_USES)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable(_USES)

    def __getattr__(self, name: str) -> Any:
        if name in ("sum", "mean", "max", "min"):
            return lambda *args, **options: self._folded(name, *args, **options)
        raise Untraceable(_USES)

    def __getitem__(self, key: Any) -> Windowed:
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        keys += [slice(None)] * (self.ndim - len(keys))
        lead = len(self.x.sizes) - len(self.size)
        step = []
        for place, one in enumerate(keys):
            inside = lead <= place < len(self.x.sizes)
            if not isinstance(one, slice) or one.start or one.stop is not None:
                raise Untraceable(_USES)
            if not inside and one.step not in (None, 1):
                raise Untraceable(_USES)
            step += [(one.step or 1) * self.step[place - lead]] if inside else []
        return Windowed(self.x, self.size, step)

    def _source(self, fill: float) -> tuple[Traced, tuple[int, ...]]:
        """What lies inside a padding with `fill`, and how much of it there is on either side."""
        inner = len(self.size)
        given, pad = self.x, (0,) * inner
        source, widths, value = self.x.tape.padded.get(self.x.node, (None, (), 0.0))
        even = all(before == after for before, after in widths)
        if source is not None and value == fill and even and not any(map(any, widths[:-inner])):
            given, pad = source, tuple(before for before, _ in widths[-inner:])
        return given, pad

    def _folded(self, kind: str, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
        inner = len(self.size)
        axes = axes_of(axis, self.ndim)
        if axes[-inner:] != tuple(range(self.ndim - inner, self.ndim)) or keepdims:
            raise Untraceable(_USES)
        if kind == "min":
            lower = Windowed(-self.x, self.size, self.step)
            return -lower._folded("max", axis)
        x, pad = self._source(0.0 if kind in ("sum", "mean") else -np.inf)
        found: Any = windows(x, "max" if kind == "max" else "sum", self.size, self.step, pad)
        if kind == "mean":
            found = found * (1.0 / prod(self.size))
        rest = axes[:-inner]
        return reduced("sum" if kind == "mean" else kind, found, rest) if rest else found

    def _tensordot(self, a: Any, b: Any, axes: Any = 2) -> Any:
        if a is not self or isinstance(axes, int):
            raise Untraceable(_USES)
        pairs = [[one] if isinstance(one, int) else list(one) for one in axes]
        (weights,) = lifted((b,))
        ranks = self.ndim, len(weights.sizes)
        own, others = ([n % rank for n in one] for one, rank in zip(pairs, ranks, strict=True))
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        left = [next(letters) for _ in range(self.ndim)]
        met = {y: left[x] for x, y in zip(own, others, strict=True)}
        right = [met[k] if k in met else next(letters) for k in range(ranks[1])]
        rest = [c for c in (*left, *right) if c not in met.values()]
        return self._einsum(f"{''.join(left)},{''.join(right)}->{''.join(rest)}", a, weights)

    def _einsum(self, formula: Any, a: Any, b: Any) -> Any:
        given, arrow, out = str(formula).replace(" ", "").partition("->")
        terms = given.split(",")
        if b is self:
            a, b, terms = b, a, terms[::-1]
        if isinstance(b, Windowed) or not arrow or "." in given or len(terms) != 2:
            raise Untraceable(_USES)
        (weights,) = lifted((b,))
        own, by = terms
        inner = len(self.size)
        lead, places, window = own[: -2 * inner], own[-2 * inner : -inner], own[-inner:]
        alone = set(lead) - set(by) - set(out)
        if alone or {*window} & {*out} or not {*window} <= {*by} or {*places} & {*by}:
            raise Untraceable(_USES)
        samples = [c for c in lead if c not in by]
        group = [c for c in lead if c in by and c in out]
        channels = [c for c in lead if c in by and c not in out]
        rows = [c for c in by if c not in own]
        if {*rows} - {*out}:
            raise Untraceable(_USES)
        x, pad = self._source(0.0)
        found = dots(
            self._gathered(x, own[:-inner], samples, group, channels, places),
            self._gathered(weights, by, group, rows, channels, window),
            *(self.step, pad, (1,) * inner),
        )
        sizes = found.shape[3:]
        known = self._lengths(own[:-inner], self.x) | self._lengths(by, weights)
        shape = [known[c] for c in (*samples, *group, *rows)]
        found = reshaped(found, (*shape, *sizes))
        letters = [*samples, *group, *rows, *places]
        gone = tuple(k for k, c in enumerate(letters) if c not in out)
        found = np.sum(found, axis=gone) if gone else found
        left = [c for c in letters if c in out]
        return transpose(found, [left.index(c) for c in out])

    @staticmethod
    def _lengths(letters: str, x: Traced) -> dict[str, Any]:
        return dict(zip(letters, x.shape, strict=True))

    def _gathered(self, x: Traced, letters: str, *parts: Sequence[str]) -> Traced:
        """`x` with one axis for each of the first three parts, and those of the last."""
        order = [c for part in parts for c in part]
        turned = transpose(x, [letters.index(c) for c in order])
        known = self._lengths(letters, x)
        joined = [prod(known[c] for c in part) for part in parts[:3]]
        return reshaped(turned, (*joined, *(known[c] for c in parts[3])))


def sliding_window_view(x: Traced, window_shape: Any, axis: Any = None, **more: Any) -> Windowed:
    """numpy.lib.stride_tricks.sliding_window_view along the last axes."""
    size = (window_shape,) if np.ndim(window_shape) == 0 else tuple(window_shape)
    axes = axes_of(axis, len(x.sizes))
    given = axes if axis is None else (axis,) if np.ndim(axis) == 0 else tuple(axis)
    if tuple(int(a) % len(x.sizes) for a in given) != axes:
        axes = ()  # in another order than the sizes
    if more or len(size) != len(axes) or axes != tuple(range(len(x.sizes)))[-len(axes) :]:
        raise Untraceable("It takes windows along other axes than the last ones, in their order.")
    return Windowed(x, [int(n) for n in size])


definitions.FUNCTIONS |= {"sliding_window_view": sliding_window_view}
