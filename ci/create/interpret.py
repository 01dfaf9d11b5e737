"""Runs a tile program in numpy, tile by tile as a core would, so that it is verified before it is
lowered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ci.create.layout import Layout
from ci.create.passes.windows import UNDOT, Window
from ci.create.program import Argument, Phase, Program, Statement, Value
from ci.create.scalars import Scalar
from ci.create.tensors import Tensor
from ci.create.tracing.array import FOLDED_BY, NEUTRAL

Array = NDArray[Any]

_BINARY: Final = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
}
_UNARY: Final = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "not": np.logical_not,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
}


@dataclass
class Tiles:
    """Rows and columns of a tile; small ones try the tails of every loop."""

    rows: int = 3
    cols: int = 5


def run(
    program: Program,
    layout: Layout,
    inputs: Mapping[str, Array],
    attrs: Mapping[str, float],
    tiles: Tiles | None = None,
) -> list[Array]:
    """The outputs, each over its groups, for the sizes of the case that `layout` was traced of."""
    sizes = {g.name: g.example for g in layout.groups}
    machine = _Machine(program, sizes, dict(attrs), tiles or Tiles())
    for tensor in program.inputs:
        shape = [sizes[g] for g in tensor.groups]
        machine.memory[tensor.name] = np.asarray(inputs[tensor.name], np.float64).reshape(shape)
    for tensor in (*program.outputs, *program.kept):
        machine.memory[tensor.name] = np.full([sizes[g] for g in tensor.groups], np.nan)
    with np.errstate(all="ignore"):
        for phase in program.phases:
            machine.phase(phase)
    return [machine.memory[t.name] for t in program.outputs]


@dataclass
class _Machine:
    program: Program
    sizes: dict[str, int]
    attrs: dict[str, float]
    tiles: Tiles
    memory: dict[str, Array] = field(default_factory=dict)
    totals: dict[str, Array] = field(default_factory=dict)

    def phase(self, phase: Phase) -> None:
        for total in phase.totals:
            assert total.value is not None
            self.totals[total.value.name] = np.full((1, 1), _neutral(total))
        found: dict[str, Array] = {}
        for unit in self._places(phase, phase.kept):
            values: dict[str, Array] = {}
            found = values
            self._run(phase, phase.prelude, unit, values)
            for sweep in phase.sweeps:
                self._begin(phase, sweep.body, unit, values)
                steps = self._places(phase, phase.sequential)
                if any("reverse" in s.op for s in sweep.body):
                    steps = iter(list(steps)[::-1])
                for step in steps if sweep.body else ():
                    self._run(phase, sweep.body, unit | step, values)
                self._run(phase, sweep.settle, unit, values)
        del found

    def _places(self, phase: Phase, groups: tuple[str, ...]) -> Iterator[dict[str, slice]]:
        """The tiles along some groups, in the order in which a core takes them."""
        sizes = {phase.rows: self.tiles.rows, phase.cols: self.tiles.cols}
        ranges = [
            [
                slice(start, min(start + sizes.get(g, 1), self.sizes[g]))
                for start in range(0, self.sizes[g], sizes.get(g, 1))
            ]
            for g in groups
        ]
        for chosen in product(*ranges):
            yield dict(zip(groups, chosen, strict=True))

    def _begin(
        self,
        phase: Phase,
        body: tuple[Statement, ...],
        at: dict[str, slice],
        values: dict[str, Array],
    ) -> None:
        for statement in body:
            if statement.op.startswith("fold") and not statement.total and statement.value:
                values[statement.value.name] = np.full((1, 1), _neutral(statement))
            if statement.carry is not None:
                neutral = NEUTRAL[statement.op.split()[0].removeprefix("scan_")]
                values[statement.carry.name] = np.full((1, 1), neutral)

    def _run(
        self,
        phase: Phase,
        statements: tuple[Statement, ...],
        at: dict[str, slice],
        values: dict[str, Array],
    ) -> None:
        for statement in statements:
            if statement.op == "store":
                assert statement.tensor is not None
                for turn, arg in enumerate(statement.args):
                    part = statement.tensor.turn(turn)
                    self._store(phase, part, at, self._argument(arg, values))
                continue
            assert statement.value is not None
            values[statement.value.name] = self._value(phase, statement, at, values)

    def _argument(self, arg: Argument, values: dict[str, Array]) -> Array:
        if isinstance(arg, Scalar):
            return np.asarray(arg.evaluate(self.attrs, self.sizes))
        return values[arg.name] if arg.name in values else self.totals[arg.name]

    def _value(
        self, phase: Phase, statement: Statement, at: dict[str, slice], values: dict[str, Array]
    ) -> Array:
        op, value = statement.op, statement.value
        assert value is not None
        if op == "load":
            assert statement.tensor is not None
            return self._load(phase, statement.tensor, at)
        if op.startswith("window "):
            assert statement.tensor is not None
            return self._window(phase, statement, statement.tensor, at)
        args = [self._argument(a, values) for a in statement.args]
        if statement.gathers:
            assert statement.tensor is not None
            return self._gather(phase, op.split()[1], statement.tensor, args[0], at)
        if op.startswith("fold "):
            return self._fold(phase, statement, value, args[0], at, values)
        if op.startswith("scan_"):
            return self._scan(statement, args[0], values)
        if op == "where":
            return np.where(args[0] != 0, args[1], args[2])
        if op == "expand":
            rows, cols = (self._length(g, at) for g in (phase.rows, phase.cols))
            shape = (
                rows if value.kind in ("tile", "rows") else 1,
                cols if value.kind in ("tile", "cols") else 1,
            )
            return np.broadcast_to(args[0], shape)
        if op == "iota":
            (group,) = dict(phase.values)[value.name]
            if value.kind == "cell":
                return np.full((1, 1), float(at[group].start))
            index = np.arange(at[group].start, at[group].stop, dtype=np.float64)
            return index[:, None] if value.kind == "rows" else index[None, :]
        return _BINARY[op](*args) if op in _BINARY else _UNARY[op](*args)

    def _length(self, group: str, at: dict[str, slice]) -> int:
        return at[group].stop - at[group].start if group in at else 1

    def _fold(
        self,
        phase: Phase,
        statement: Statement,
        value: Value,
        arg: Array,
        at: dict[str, slice],
        values: dict[str, Array],
    ) -> Array:
        ufunc = FOLDED_BY[statement.op.removeprefix("fold ")]
        given = statement.args[0]
        assert isinstance(given, Value)
        shape = (
            self._length(phase.rows, at) if given.kind in ("tile", "rows") and phase.rows else 1,
            self._length(phase.cols, at) if given.kind in ("tile", "cols") else 1,
        )
        folded = np.broadcast_to(arg, shape)
        if value.kind in ("cols", "cell") and given.kind in ("tile", "rows"):
            folded = ufunc.reduce(folded, axis=0, keepdims=True)
        if value.kind in ("rows", "cell") and given.kind in ("tile", "cols"):
            folded = ufunc.reduce(folded, axis=1, keepdims=True)
        store = self.totals if statement.total else values
        store[value.name] = np.asarray(ufunc(store[value.name], folded))
        return store[value.name]

    def _scan(self, statement: Statement, arg: Array, values: dict[str, Array]) -> Array:
        assert statement.carry is not None
        words = statement.op.split()
        axis = 0 if words[-1] == "rows" else 1
        ufunc = FOLDED_BY[words[0].removeprefix("scan_")]
        carry = values[statement.carry.name]
        given = np.flip(arg, axis) if "reverse" in words else arg
        found = ufunc(ufunc.accumulate(given, axis=axis), carry)
        last = np.take(found, [-1], axis=axis)
        values[statement.carry.name] = last
        if "exclusive" in words:
            first = np.broadcast_to(carry, last.shape)
            found = np.concatenate([first, np.delete(found, -1, axis=axis)], axis=axis)
        return np.flip(found, axis) if "reverse" in words else found

    def _window(
        self, phase: Phase, statement: Statement, tensor: Tensor, at: dict[str, slice]
    ) -> Array:
        window = Window.read(statement.op)
        if statement.weights is not None:
            return self._dots(phase, statement, window, at)
        lead = len(tensor.groups) - len(window.size)
        fill = 0.0 if window.kind == "sum" else -np.inf
        pads = [(0, 0)] * lead + [(p, p) for p in window.pad]
        whole = np.pad(self.memory[tensor.name], pads, constant_values=fill)
        axes = tuple(range(lead, whole.ndim))
        view = np.lib.stride_tricks.sliding_window_view(whole, window.size, axes)
        view = view[(slice(None),) * lead + tuple(slice(None, None, s) for s in window.step)]
        fold = np.sum if window.kind == "sum" else np.max
        found = fold(view, axis=tuple(range(-len(window.size), 0)))
        part = found[tuple(at[g] for g in phase.groups)]
        return np.asarray(part).reshape(
            self._length(phase.rows, at) if phase.rows else 1, self._length(phase.cols, at)
        )

    def _dots(
        self, phase: Phase, statement: Statement, window: Window, at: dict[str, slice]
    ) -> Array:
        tensor, weights, value = statement.tensor, statement.weights, statement.value
        assert tensor is not None and weights is not None and value is not None
        groups = [g for g in phase.groups if g in dict(phase.values)[value.name]]
        own = [g for g in groups if g not in (*tensor.groups, *weights.groups)]
        first = tensor.groups[: -len(window.size)]
        lead = [g for g in weights.groups if g in groups]
        x = self.memory[tensor.name][tuple(at[g] for g in first)]
        by = self.memory[weights.name][tuple(at[g] for g in lead)]
        by = by.reshape(*by.shape[: len(lead)], *window.size)
        letters = {g: chr(ord("a") + place) for place, g in enumerate(groups)}
        terms = ["".join(letters[g] for g in names) for names in ((*first, *own), lead, groups)]
        shape = (
            self._length(phase.rows, at) if phase.rows in groups else 1,
            self._length(phase.cols, at),
        )
        if window.kind == UNDOT:
            whole = {g: self.sizes[g] + 2 * p for g, p in zip(own, window.pad, strict=True)}
            total = np.zeros([whole.get(g, self._length(g, at)) for g in groups])
            for place in np.ndindex(*window.size):
                added = np.einsum(f"{terms[0]},{terms[1]}->{terms[2]}", x, by[(..., *place)])
                numbers = zip(
                    own, place, window.step, window.apart, x.shape[len(first) :], strict=True
                )
                there = {g: slice(k * d, k * d + (n - 1) * s + 1, s) for g, k, s, d, n in numbers}
                total[tuple(there.get(g, slice(None)) for g in groups)] += added
            part = {
                g: slice(at[g].start + p, at[g].stop + p)
                for g, p in zip(own, window.pad, strict=True)
            }
            return total[tuple(part.get(g, slice(None)) for g in groups)].reshape(shape)
        x = np.pad(x, [(0, 0)] * len(first) + [(p, p) for p in window.pad])
        seen = [(k - 1) * d + 1 for k, d in zip(window.size, window.apart, strict=True)]
        axes = tuple(range(len(first), x.ndim))
        view = np.lib.stride_tricks.sliding_window_view(x, seen, axes)
        steps = tuple(
            slice(at[g].start * s, (at[g].stop - 1) * s + 1, s)
            for g, s in zip(own, window.step, strict=True)
        )
        view = view[
            (slice(None),) * len(first) + steps + tuple(slice(None, None, d) for d in window.apart)
        ]
        inner = "xyz"[: len(window.size)]
        found = np.einsum(f"{terms[0]}{inner},{terms[1]}{inner}->{terms[2]}", view, by)
        return np.asarray(found).reshape(shape)

    def _index(self, tensor: Tensor, at: dict[str, slice]) -> tuple[slice, ...]:
        return tuple(at.get(g, slice(None)) for g in tensor.groups)

    def _load(self, phase: Phase, tensor: Tensor, at: dict[str, slice]) -> Array:
        return self._tile(phase, tensor, self._memory(tensor)[self._index(tensor, at)])

    def _gather(
        self, phase: Phase, along: str, tensor: Tensor, places: Array, at: dict[str, slice]
    ) -> Array:
        axis = tensor.groups.index(along)
        own = {g: s for g, s in at.items() if g != along}
        whole = np.moveaxis(self._memory(tensor)[self._index(tensor, own)], axis, -1)
        rest = replace(tensor, groups=tuple(g for g in tensor.groups if g != along))
        lines = [self._tile(phase, rest, whole[..., k]) for k in range(whole.shape[-1])]
        index = np.clip(np.where(places < 0, places + len(lines), places), 0, len(lines) - 1)
        shape = np.broadcast_shapes(lines[0].shape, index.shape)
        stacked = np.broadcast_to(np.stack(lines, -1), (*shape, len(lines)))
        taken = np.broadcast_to(index, shape).astype(np.int64)[..., None]
        return np.take_along_axis(stacked, taken, -1)[..., 0]

    def _tile(self, phase: Phase, tensor: Tensor, part: Array) -> Array:
        """A part of a tensor as rows and columns; further axes have one element."""
        inner = [tensor.groups.index(g) for g in (phase.rows, phase.cols) if g in tensor.groups]
        outer = [axis for axis in range(part.ndim) if axis not in inner]
        sizes = {g: part.shape[i] for i, g in enumerate(tensor.groups)}
        shape = (sizes.get(phase.rows, 1), sizes.get(phase.cols, 1))
        return part.transpose([*outer, *inner]).reshape(shape)

    def _memory(self, tensor: Tensor) -> Array:
        """A tensor over its groups; a part is a view of what it is a part of."""
        whole = self.memory[tensor.memory]
        if not tensor.runs:
            return whole.reshape([self.sizes[g] for g in tensor.groups])
        ranges, runs = [], tensor.runs
        outer = len(runs) - tensor.single
        if all(run.start == "0" for run in runs[outer:-1]):  # they take turns as in one axis
            whole = whole.reshape(*whole.shape[:outer], -1) if tensor.single else whole
            runs = (*runs[:outer], *runs[max(outer, len(runs) - 1) :])
        for run in runs:
            start = sum(int(s) if s.isdigit() else self.sizes[s] for s in run.start.split("+"))
            count = math.prod(self.sizes[g] for g in run.groups)
            ranges.append(slice(start, start + (count - 1) * run.step + 1, run.step))
        return whole[tuple(ranges)].reshape([self.sizes[g] for g in tensor.groups])

    def _store(self, phase: Phase, tensor: Tensor, at: dict[str, slice], value: Array) -> None:
        memory, index = self._memory(tensor), self._index(tensor, at)
        place = self._tile(phase, tensor, memory[index])
        filled = np.broadcast_to(value, place.shape)
        shape = memory[index].shape
        turned = filled.T if phase.turns(tensor) else filled
        memory[index] = turned.reshape(shape)


def _neutral(statement: Statement) -> float:
    return NEUTRAL[statement.op.removeprefix("fold ")]
