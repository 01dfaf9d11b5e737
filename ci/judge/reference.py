"""Inputs and right answers of each case and seed, made once and kept.

They stay in this process: a candidate's process gets the inputs, never the golden outputs.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ci.backend.base import Backend, Build
from ci.backend.tiled import TiledBuild
from ci.host.tiling_request import host_request, platform_facts
from ci.judge.compare_outputs import compare_outputs
from ci.model.columns import case_dtypes, output_dtypes
from ci.model.dtypes import BY_NAME, from_bfloat16
from ci.model.errors import CaseTooLarge, InputError, TrialFailure
from ci.model.launch import Array, Tensor, Tensors, arrays
from ci.model.operator import Operator
from ci.model.trial import Outcome, Refusal
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.golden import MOST_BYTES, Golden
from ci.source.inputs import draw_inputs, store
from ci.source.repeated import pattern_of

KEEP_BYTES = 1 << 30
"""Tensors kept in memory; what falls out is made again when needed."""

VARIED_BYTES = 128 << 20
"""What a golden function may give for a case that was made up: a varied attribute, such as the size
to scale to, asks for any size, and comparing takes some ten times as much memory."""

HALF_ULP = 2.0**-24
"""What rounding to float32, in which vectors compute at the best, moves a value by."""


@dataclass(frozen=True)
class Reference:
    """The inputs of one launch and the outputs that are right for them."""

    inputs: Tensors
    outputs: Tensors
    scale: float
    """The largest finite floating-point input."""
    exact: Tensors | None = None
    """Result of `References.exact`, once it was asked."""

    @property
    def bytes(self) -> int:
        """Size of all tensors."""
        held = arrays((*self.inputs, *self.outputs, *(self.exact or ())))
        return sum(a.nbytes if (p := pattern_of(a)) is None else p.nbytes for a in held)


class References:
    """Answers `Reference`s of a workload; safe to share between threads."""

    def __init__(self, operator: Operator, workload: Workload, backend: Backend) -> None:
        self.operator = operator
        self.workload = workload
        self.answered_by: References | None = None
        """References of an earlier version, whose operator is right where no golden function is."""
        self._backend = backend
        self._kept: OrderedDict[tuple[str, int], Reference] = OrderedDict()
        self._locks: dict[tuple[str, int], threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def kind(self) -> Literal["golden", "unmodified operator"]:
        """Where the right answers come from."""
        return "golden" if self.workload.golden else "unmodified operator"

    def of(self, case: WorkloadCase, seed: int) -> Reference:
        """The reference of a case for inputs drawn from a seed.

        Raises InputError when the golden function fails, and TrialFailure when there is none and
        the unmodified operator fails, or its InferShape asks for more than a launch may have.
        """
        key = (case.name, seed)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            made = self._make(case, seed)
            self._keep(key, made)
            return made

    def _keep(self, key: tuple[str, int], made: Reference) -> None:
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(r.bytes for r in self._kept.values()) > KEEP_BYTES:
                self._kept.popitem(last=False)

    def known(self, case: WorkloadCase, seed: int) -> Reference | None:
        """The same if it is there, without making it."""
        with self._lock:
            return self._kept.get((case.name, seed))

    def _make(self, case: WorkloadCase, seed: int) -> Reference:
        inputs = draw_inputs(case, seed)
        if self.workload.golden:
            outputs = self._golden.outputs(case, inputs, most_bytes=self._most(case))
        else:
            right = self.answered_by or self
            inferred = None if case.outputs else self._inferred(case, inputs)
            templates = inferred or declared_outputs(self.operator, case)
            outputs = right.unmodified.run(case, inputs, templates).outputs
        for array in arrays((*inputs, *outputs)):
            array.setflags(write=False)
        return Reference(inputs, outputs, _largest(inputs, case_dtypes(case)))

    @cached_property
    def infers(self) -> bool:
        """Whether InferShape gives the outputs of the workload's own cases as they are declared,
        where no golden function does: it tells those of varied cases, too."""
        if self.workload.golden:
            return False
        try:
            return all(self._as_declared(case) for case in self.workload.cases)
        except (InputError, TrialFailure):
            return False

    def _as_declared(self, case: WorkloadCase) -> bool:
        found = self._inferred(case, self.of(case, self.workload.seeds[0]).inputs)
        if found is None or not case.outputs:
            return False
        declared = declared_outputs(self.operator, case)
        return [one.shape for one in arrays(found)] == [one.shape for one in arrays(declared)]

    def _inferred(self, case: WorkloadCase, inputs: Tensors) -> Tensors | None:
        """Empty outputs of the shapes that the unmodified host side infers; None where it does
        not. Raises CaseTooLarge where they take more memory than a launch may have."""
        build, operator = self.unmodified, self.operator
        if not isinstance(build, TiledBuild) or any(spec.in_place for spec in operator.outputs):
            return None
        facts, read = platform_facts(build.device), build.value_inputs
        asked = host_request(operator, case, facts, inputs, read=read)
        (answer,) = build.host.answers([asked])
        found = answer.inference
        if found is None or found.shapes != "ok" or len(found.outputs) != len(operator.outputs):
            return None
        shapes = [one.shape for many in found.outputs for one in many]
        if any(length < 0 for shape in shapes for length in shape):
            return None
        # Zeros are made in float64 and then stored: at most 16 bytes an element.
        if sum(16 * math.prod(shape) for shape in shapes) > self._most(case):
            sentence = f"InferShape asks for outputs of {' and '.join(map(str, shapes))}."
            raise CaseTooLarge(Outcome.LAUNCH_ERROR, Refusal(sentence=sentence))
        made: Tensors = []
        dtypes = output_dtypes(operator, case)
        for spec, dtype, many in zip(operator.outputs, dtypes, found.outputs, strict=True):
            empty = [store(np.zeros(one.shape), BY_NAME[dtype]) for one in many]
            if spec.param_type != "dynamic" and len(empty) != 1:
                return None
            made.append(empty if spec.param_type == "dynamic" else empty[0])
        return made

    def supposed(self, case: WorkloadCase, inputs: Tensors, *, exact: bool = False) -> Tensors:
        """What the golden function gives for these inputs, which need not be the case's.

        `exact` as for `Golden.outputs`. Raises InputError when it fails."""
        return self._golden.outputs(case, inputs, exact=exact, most_bytes=VARIED_BYTES)

    def exact(self, case: WorkloadCase, seed: int) -> Tensors:
        """The right outputs before they are rounded into their dtypes, where the golden function
        can tell them; else the same as the reference's. Raises what `of` does."""
        right = self.of(case, seed)
        if right.exact is None:
            right = dataclasses.replace(right, exact=self._exact(case, right.inputs, right.outputs))
            self._keep((case.name, seed), right)
        assert right.exact is not None
        return right.exact

    def _exact(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> Tensors:
        """What the golden function gives in float64, for each output where that is the same result
        within its tolerance: a function may do something else for another dtype, or fail."""
        many = any(pattern_of(array) is not None for array in arrays(inputs))
        if not self.workload.golden or many:
            return outputs
        tolerances = self.workload.tolerances
        try:
            exact = self._golden.outputs(case, inputs, exact=True, most_bytes=self._most(case))
            dtypes = output_dtypes(self.operator, case)
            return [
                wide
                if isinstance(wide, list) == isinstance(own, list)
                and compare_outputs([wide], [own], ["y"], [dtype], tolerances).agrees
                else own
                for wide, own, dtype in zip(exact, outputs, dtypes, strict=True)
            ]
        except (InputError, ValueError):  # it fails, or gives more or fewer tensors
            return outputs

    def swayed(self, case: WorkloadCase, seed: int) -> list[Tensors]:
        """What is right when each floating-point input in turn is moved by `HALF_ULP`, either way.

        Empty where the golden function does not tell the outputs in float64.
        """
        right = self.of(case, seed)
        if self.exact(case, seed) is right.outputs:
            return []
        draw = np.random.default_rng(seed)
        wide = [_wide(t, d) for t, d in zip(right.inputs, case_dtypes(case), strict=True)]
        found = []
        for index, tensor in enumerate(wide):
            if not any(a.dtype.kind == "f" for a in arrays([tensor])):
                continue
            moved = [*wide[:index], _moved(tensor, draw), *wide[index + 1 :]]
            found.append(self._golden.outputs(case, moved, exact=True, most_bytes=self._most(case)))
        return found

    def _most(self, case: WorkloadCase) -> int:
        """Bytes that the golden function may give for a case."""
        return MOST_BYTES if case in self.workload.cases else VARIED_BYTES

    def load(self) -> None:
        """Load the golden function, if there is one; raises InputError when it cannot be."""
        if self.workload.golden:
            _ = self._golden

    @cached_property
    def _golden(self) -> Golden:
        return Golden(self.workload, self.operator)

    @cached_property
    def unmodified(self) -> Build:
        """The original operator in the repository, built."""
        return self._backend.build(self.operator, {}, self.workload)


def _wide(tensor: Tensor, dtype: str | None) -> Tensor:
    """A tensor with its floating-point values as float64."""
    if isinstance(tensor, list):
        return [a for one in tensor if isinstance(a := _wide(one, dtype), np.ndarray)]
    if tensor is None:
        return None
    values = from_bfloat16(tensor) if dtype == "bfloat16" else tensor
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _moved(tensor: Tensor, draw: np.random.Generator) -> Tensor:
    """A tensor of float64 with each value moved by `HALF_ULP` of it, up or down."""
    if isinstance(tensor, list):
        return [a for one in tensor if isinstance(a := _moved(one, draw), np.ndarray)]
    if tensor is None or tensor.dtype.kind != "f":
        return tensor
    either_way = draw.choice((-HALF_ULP, HALF_ULP), tensor.shape)
    return np.asarray(tensor.astype(np.float64) * (1 + either_way))


def _largest(inputs: Tensors, dtypes: Sequence[str | None]) -> float:
    most = 0.0
    for tensor, dtype in zip(inputs, dtypes, strict=False):
        for array in arrays([tensor]):
            pattern = pattern_of(array)
            if pattern is not None:
                array = pattern.view(array.dtype)
            values = from_bfloat16(array) if dtype == "bfloat16" else array
            if values.dtype.kind == "f":
                most = max(most, float(np.abs(values[np.isfinite(values)]).max(initial=0)))
    return most


def empty_like(outputs: Tensors) -> Tensors:
    """Arrays of the same shapes and dtypes without the contents, to hand to a backend."""
    # Unlike `zeros_like` this touches no memory.
    return [
        [np.zeros(a.shape, a.dtype) for a in t]
        if isinstance(t, list)
        else (None if t is None else np.zeros(t.shape, t.dtype))
        for t in outputs
    ]


def declared_outputs(operator: Operator, case: WorkloadCase) -> Tensors:
    """Empty outputs of the shapes that the case declares.

    A case without them has outputs shaped as its first input, which holds for elementwise
    operators. Raises InputError when that cannot be.
    """
    dtypes = output_dtypes(operator, case)
    made: Tensors = []
    for index, spec in enumerate(operator.outputs):
        given = case.outputs[index] if index < len(case.outputs) else case.inputs[0]
        if spec.in_place:
            given = case.inputs[[i.name for i in operator.inputs].index(spec.name)]
        if isinstance(given, tuple) != (spec.param_type == "dynamic"):
            raise InputError(
                f"case '{case.name}': without a golden function the shape of output '{spec.name}' "
                "must be given under outputs."
            )
        made.append(
            [_empty(one, dtypes[index]) for one in given]
            if isinstance(given, tuple)
            else _empty(given, dtypes[index])
        )
    return made


def _empty(spec: TensorCase, dtype: str) -> Array:
    return store(np.zeros(spec.shape), BY_NAME[dtype])
