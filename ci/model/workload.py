"""The static attributes S of an optimization: cases, golden function, tolerances."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from ci.model.frozen import Frozen

Distribution: TypeAlias = Literal[
    "uniform",
    "normal",
    "permutation",
    "counted",
    "sorted",
    "special",
    "infinite",
    "tiny",
    "constant_rows",
    "spiked",
    "magnitudes",
    "ties",
]
"""How values are drawn (`ci.source.inputs`).

uniform, normal  over the range; permutation  of 0 … size−1; sorted  ascending along the last axis
counted   0, 1, 2 … to the end of the range, again and again
special   uniform, but NaN, infinities, zeros of both signs and denormals in a few elements
infinite  uniform, but infinities of both signs in a few elements
tiny      uniform, but zeros of both signs and denormals in a few elements
constant_rows  one value for each row; spiked  one value of each row 30 times as large
magnitudes  each row times a power of ten of its own, over the dtype's exponents
ties      uniform, but every second element half way between two integers
"""
AttrValue = int | float | bool | str | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...]


class TensorCase(Frozen):
    """Shape, dtype and values of one input (or declared output) of a case."""

    shape: tuple[int, ...]
    dtype: str
    range: tuple[float, float] = Field(default=(-1.0, 1.0), description="Uniform draw, [low, high]")
    values: tuple[int | float | complex, ...] | None = Field(
        default=None, description="Given instead of drawn, row-major; for scalars and indices."
    )
    distribution: Distribution = "uniform"
    present: bool = Field(default=True, description="False leaves an optional input out.")
    format: str = Field(
        default="",
        description="Such as NCHW, where the definition's dtype columns differ in formats only.",
    )

    @property
    def each_given(self) -> bool:
        """Whether a value is given for each element, so that another shape would not fit."""
        return self.values is not None and len(self.values) == prod(self.shape)


Entry: TypeAlias = TensorCase | tuple[TensorCase, ...]
"""The entry of one input or output: a tensor, or a list of them."""


class WorkloadCase(Frozen):
    """One launch: inputs in the order of the op definition, and attributes.

    A dynamic (tensor-list) input is a tuple of tensors; its place in `inputs` holds the list.
    """

    name: str
    inputs: tuple[Entry, ...]
    outputs: tuple[Entry, ...] = Field(
        default=(), description="Shapes and dtypes; asked of the golden function when empty."
    )
    attrs: dict[str, AttrValue] = Field(default_factory=dict)
    weight: float = 1.0
    deterministic: bool = Field(
        default=False, description="What the host side's GetDeterministic() answers."
    )

    def changed(self, how: str, change: Callable[[TensorCase], TensorCase]) -> WorkloadCase:
        """The case with `change` made to every tensor, outputs too; `how` goes into its name."""

        def entries(given: tuple[Entry, ...]) -> tuple[Entry, ...]:
            return tuple(
                tuple(change(t) for t in e) if isinstance(e, tuple) else change(e) for e in given
            )

        return self.model_copy(
            update={
                "name": f"{self.name} with {how}",
                "inputs": entries(self.inputs),
                "outputs": entries(self.outputs),
            }
        )


class Tolerance(Frozen):
    """|actual − golden| ≤ absolute + relative·|golden|, for all but `outliers` of the elements."""

    relative: float = Field(default=0.0, ge=0, le=1e9)
    absolute: float = Field(default=0.0, ge=0, le=1e9)
    outliers: float = Field(default=0.0, ge=0, le=1, description="Share that may miss.")


class Workload(Frozen):
    """The cases that an operator is optimized for and judged by."""

    operator: str
    cases: tuple[WorkloadCase, ...] = Field(min_length=1)
    golden: str = Field(
        default="", description="'file.py:function', absolute or next to the workload; '' if none."
    )
    folder: Path = Field(description="Where the workload was read from; golden resolves here.")
    tolerances: dict[str, Tolerance] = Field(
        default_factory=dict, description="By dtype; overrides rules/tolerances.yml."
    )
    seeds: tuple[int, ...] = Field(default=(1, 2), min_length=1)
    in_place: tuple[str, ...] = Field(
        default=(),
        description="Inputs that the kernel updates without declaring them as outputs; golden "
        "returns them after the declared outputs.",
    )
    initial: dict[str, float] = Field(
        default_factory=dict,
        description="Outputs that the caller has filled with a value before the launch, by name.",
    )
    over_read: int = Field(
        default=32,
        ge=0,
        le=1 << 20,
        description="Bytes behind a tensor's last block of 32 that the kernel may read.",
    )
    any_order: bool = Field(
        default=False, description="Cores may add floats atomically: sums may vary between runs."
    )
    auto_sync: bool | None = Field(default=None, description="Overrides the operator's CMakeLists.")
