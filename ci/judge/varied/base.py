"""What a family of varied cases is, and the cases that it may build on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, TypeAlias, TypeVar
from zlib import crc32

from ci.model.columns import output_dtypes
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import AttrValue, TensorCase, Workload, WorkloadCase

LONGEST_NAME = 160

SHOWN_VALUES = 4
"""Given values of a tensor that its words show."""

Item = TypeVar("Item")

Ladder: TypeAlias = Iterable[WorkloadCase]
"""Cases of which the first that the unmodified operator takes is wanted, and no other."""


@dataclass(frozen=True)
class Known:
    """What cases are made from."""

    operator: Operator
    workload: Workload
    takes: Callable[[WorkloadCase], bool]
    """Whether a case is small enough to be launched and the unmodified operator passes it."""
    numbers: tuple[float, ...] = ()
    """What is in the candidate's changed lines."""
    constants: tuple[float, ...] = ()
    """What is in the operator's tiling."""
    kernel_constants: tuple[float, ...] = ()
    """What is in its kernel."""
    cores: int = 1
    inferred: bool = False
    """Whether InferShape tells the outputs of cases, where no golden function does."""
    outputs_of: Callable[[Sequence[WorkloadCase]], list[int | None]] = lambda cases: (
        [None] * len(cases)
    )
    """Elements of all outputs of each case; None where nothing says."""
    numbers_of: Callable[[WorkloadCase], frozenset[int]] = lambda case: frozenset()
    """Numbers of a case's tiling data that may be lengths."""
    probed: dict[str, tuple[WorkloadCase, ...]] = field(default_factory=dict)
    """Cases a step longer that the unmodified operator does not pass, by the name of the first of a
    dimension: 1 element longer, 8 and so on."""

    def free(self, case: WorkloadCase) -> WorkloadCase:
        """The case without declared outputs where the golden function tells their shapes, or
        InferShape does.

        Neither can tell how much room an output needs, nor the shape of packed elements.
        """
        told = self.workload.golden or self.inferred
        if not (told and case.outputs) or self.operator.tells_output_shape:
            return case
        free = case.model_copy(update={"outputs": ()})
        try:
            declared = output_dtypes(self.operator, case)
            same = output_dtypes(self.operator, free) == declared
        except InputError:
            return case
        packed = any(BY_NAME[name].bits < 8 for name in declared)
        return free if same and not packed else case


class Family(ABC):
    """One way to vary the cases of a workload. Has no state."""

    name: ClassVar[str]
    """What is varied, as reports count it."""
    turns: ClassVar[int] = 1
    """How many of its ladders are asked when one of another family is."""
    rounding: ClassVar[bool] = False
    """Whether rounding alone may take a right operator beyond its tolerance there."""

    @abstractmethod
    def ladders(self, known: Known) -> Iterator[Ladder]:
        """The variations, those that tell most first. Names differ where cases do."""


def tensors(case: WorkloadCase) -> list[TensorCase]:
    """The inputs, then the declared outputs, lists opened."""
    return [t for e in (*case.inputs, *case.outputs) for t in (e if isinstance(e, tuple) else (e,))]


def input_count(case: WorkloadCase) -> int:
    """How many of `tensors` are inputs."""
    return sum(len(e) if isinstance(e, tuple) else 1 for e in case.inputs)


def elements(case: WorkloadCase) -> int:
    """Elements of all its inputs together."""
    return sum(prod(t.shape) for t in tensors(case)[: input_count(case)] if t.present)


def shapes_of(found: Iterable[TensorCase]) -> str:
    """'512x512, 512'."""
    return ", ".join("x".join(map(str, t.shape)) or "scalar" for t in found)


def case_words(case: WorkloadCase) -> str:
    """The inputs' shapes and dtypes, then the attributes: `1x1024 float32, axis=-1`."""
    inputs = [
        f"{shapes_of([one])} {one.dtype}{_values_words(one)}" if one.present else "left out"
        for one in tensors(case)[: input_count(case)]
    ]
    return ", ".join([*inputs, *(f"{name}={value}" for name, value in case.attrs.items())])


def _values_words(tensor: TensorCase) -> str:
    """How its values differ from a plain draw, '' where they do not."""
    if tensor.values is not None:
        shown = ", ".join(map(str, tensor.values[:SHOWN_VALUES]))
        return f" ({shown}{', …' if len(tensor.values) > SHOWN_VALUES else ''})"
    if tensor.distribution != "uniform":
        return f" ({tensor.distribution.replace('_', ' ')} values)"
    return ""


def with_tensors(
    case: WorkloadCase,
    how: str,
    changed: Iterable[TensorCase],
    attrs: dict[str, AttrValue] | None = None,
) -> WorkloadCase:
    """The case with other tensors, in the order of `tensors`; `how` goes into its name."""
    if len(how) > LONGEST_NAME:
        how = f"{how[: LONGEST_NAME - 12]}… ({crc32(how.encode()):08x})"
    each = iter(changed)
    made = case.changed(how, lambda _: next(each))
    return made if attrs is None else made.model_copy(update={"attrs": attrs})


def in_turns(kinds: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """One ladder, or case, of each kind after the other, as long as any kind has some."""
    left = list(kinds)
    while left:
        for kind in tuple(left):
            found = next(kind, None)
            if found is None:
                left.remove(kind)
            else:
                yield found
