"""A task in PyTorch: a file with `Model`, `get_inputs` and `get_init_inputs`, as MultiKernelBench
has them. Its inputs are described, not drawn: reference sizes take gigabytes."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from ci.create.tracing.array import Traced
from ci.create.tracing.symbols import SymbolicFloat, SymbolicInt, symbolic
from ci.create.tracing.tape import Tape, Untraceable

LEAST = 32
"""Numbers of a task's module below this are no sizes: windows, groups, axes."""

TRIES = 400


class TorchTask:
    """The task, with its sizes halved until the inputs have at most `most` elements together."""

    def __init__(self, module: Any, most: int) -> None:
        import torch

        self._torch = torch
        self.module = module
        self.reduced = False
        self._tape = Tape()
        self._ranges: dict[int, tuple[float, float]] = {}
        torch.DrawnLater.make = self._drawn
        try:
            values = list(module.get_inputs())
            for _ in range(TRIES):
                if _elements(values) <= most or not self._halve():
                    break
                values = list(module.get_inputs())
        finally:
            torch.DrawnLater.make = None
        self.model = self._build()
        names = list(inspect.signature(self.model.forward).parameters)
        self.inputs: list[dict[str, Any]] = []
        self.attributes: dict[str, float] = {}
        for name, value in zip(names, values, strict=False):
            if isinstance(value, torch.Tensor):
                low, high = self._interval(value.data.node)
                one = {"name": name, "shape": list(value.data.sizes), "range": [low, high]}
                self.inputs.append(one | {"dtype": value.data.dtype.name})
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise Untraceable(f"It is called with a {type(value).__name__}.")
            else:
                self.attributes[name] = value
        self._order = names[: len(values)]
        shapes = [one["shape"] for one in self.inputs]
        while sum(math.prod(s) for s in shapes) > most and max(map(max, shapes)) >= 2 * LEAST:
            largest = max(map(max, shapes))
            for shape in shapes:
                shape[:] = [n // 2 if n == largest else n for n in shape]
            self.reduced = True
        self.parameters = [
            {
                "name": name.replace(".", "_"),
                "shape": list(p.data.shape),
                "dtype": "float32",
                "range": [0.5, 1.5],
            }
            for name, p in self.model.named_parameters()
        ]

    def described(self) -> dict[str, Any]:
        """What the task is called with."""
        return {
            "inputs": [*self.inputs, *self.parameters],
            "attributes": self.attributes,
            "reduced": self.reduced,
        }

    def call(self, given: list[Any], attributes: dict[str, Any]) -> Any:
        """The model's result for arrays, traced or not, in the order of `described`."""
        torch = self._torch
        named = dict(zip((one["name"] for one in self.inputs), given, strict=False))
        for (path, _), value in zip(
            list(self.model.named_parameters()), given[len(self.inputs) :], strict=True
        ):
            owner = self.model
            *outer, last = path.split(".")
            for part in outer:
                owner = getattr(owner, part)
            setattr(owner, last, torch.nn.Parameter(value))
        args = [
            torch.Tensor(named[name]) if name in named else attributes[name] for name in self._order
        ]
        result = self.model(*args)
        values = result if isinstance(result, tuple | list) else (result,)
        return tuple(torch.of(v) for v in values)

    def _build(self) -> Any:
        given: Any = getattr(self.module, "get_init_inputs", list)()
        self._torch.DrawnLater.make = _at_set_up
        try:
            made = (
                self.module.Model(**given) if isinstance(given, dict) else self.module.Model(*given)
            )
        finally:
            self._torch.DrawnLater.make = None
        for name, value in made.named_tensors():
            if not isinstance(value, self._torch.nn.Parameter) and np.isnan(value.data).any():
                raise Untraceable(
                    f"It draws random numbers when it is set up, for {name}, which is no parameter."
                )
        return made

    def _halve(self) -> bool:
        """Halve the largest size among the module's numbers wherever it stands."""
        space = vars(self.module)
        sizes = [n for v in space.values() for n in _numbers(v) if n >= 2 * LEAST]
        if not sizes:
            return False
        largest = max(sizes)

        def smaller(value: Any) -> Any:
            if isinstance(value, tuple | list):
                return type(value)(smaller(v) for v in value)
            return value // 2 if value == largest else value

        for name, value in list(space.items()):
            if largest in _numbers(value):
                space[name] = smaller(value)
        self.reduced = True
        return True

    def _drawn(self, shape: tuple[int, ...], low: float, high: float, kind: str) -> Traced:
        node = self._tape.write("input", (), shape, kind, number=len(self._tape.nodes))
        self._ranges[node] = low, high
        return Traced(self._tape, node, shape, kind)

    def _interval(self, node: int) -> tuple[float, float]:
        """Between which values a described input lies; of what is not known, near one."""
        if node in self._ranges:
            return self._ranges[node]
        told = self._tape.nodes[node]
        op = told["op"]
        if op == "const":
            return (float(told["params"]["value"]),) * 2
        args = [self._interval(a) for a in told["args"]]
        if op in ("cast", "reshape", "broadcast", "copy"):
            return args[0]
        if op == "div":  # such as a softmax: positive, of no known size
            return 0.01, 1.0
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "abs": np.abs}.get(op)
        if function is None:
            return 0.01, 1.0
        if op == "abs":
            low, high = args[0]
            return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        ends = [float(function(a, b)) for a in args[0] for b in args[1]]
        return min(ends), max(ends)


def _at_set_up(shape: tuple[int, ...], low: float, high: float, kind: str) -> Any:
    """What a parameter holds until it is given: it is an input of the operator."""
    if low != high and not kind.startswith("float"):
        raise Untraceable("It draws whole numbers when it is set up.")
    return np.full(shape, low if low == high else np.nan, kind)


def symbols(tape: Tape, attributes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The numbers that the model is called with, as attributes of the operator."""
    found = {}
    for name, value in attributes.items():
        chosen = given.get(name, value)
        kind = SymbolicInt if isinstance(value, int) else SymbolicFloat
        node = tape.write("attr", dtype="int64" if kind is SymbolicInt else "float64", name=name)
        found[name] = symbolic(tape, node, chosen)
    return found


def _numbers(value: Any) -> list[int]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, tuple | list):
        return [n for one in value for n in _numbers(one)]
    return []


def _elements(values: list[Any]) -> int:
    return sum(math.prod(v.data.sizes) for v in values if hasattr(v, "data"))


def check(task: TorchTask, text: str, seed: int) -> list[float]:
    """How far the model and the function `golden` of `text` lie apart on small random inputs,
    relative to what is larger of one and the result; for each output."""
    stream = np.random.default_rng(seed)
    arrays = []
    for one in (*task.inputs, *task.parameters):
        low, high = one["range"]
        kind = np.dtype(one["dtype"])
        if kind.kind in "biu":
            drawn = stream.integers(int(low), int(high) + 1, one["shape"]).astype(kind)
        else:
            drawn = stream.uniform(low, high, one["shape"])
        arrays.append(drawn)
    space: dict[str, Any] = {}
    exec(compile(text, "golden.py", "exec"), space)
    with np.errstate(all="ignore"):
        mine = space["golden"](*arrays, **task.attributes)
        theirs = task.call(arrays, task.attributes)
    mine = mine if isinstance(mine, tuple) else (mine,)
    found = []
    for a, b in zip(mine, theirs, strict=True):
        if np.shape(a) != np.shape(b):
            found.append(float("inf"))
            continue
        found.append(float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b)), initial=0.0)))
    return found
