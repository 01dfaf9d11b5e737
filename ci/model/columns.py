"""Which dtype column of an op definition a case uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import TensorCase, WorkloadCase

RANKS: Final = {"NCL": 3, "NCHW": 4, "NHWC": 4, "HWCN": 4, "NCDHW": 5, "NDHWC": 5, "DHWCN": 5}
"""Dimensions of a tensor in a format that says them."""


def case_dtypes(case: WorkloadCase) -> list[str | None]:
    """The dtype of each input of `case`; None for an absent one or an empty list."""
    found: list[str | None] = []
    for spec in case.inputs:
        first = (spec[0] if spec else None) if isinstance(spec, tuple) else spec
        found.append(first.dtype if first is not None and first.present else None)
    return found


def case_formats(case: WorkloadCase) -> list[str]:
    """The format that `case` asks for of each input; '' where it names none."""
    found: list[str] = []
    for spec in case.inputs:
        first = (spec[0] if spec else None) if isinstance(spec, tuple) else spec
        found.append(first.format if first is not None else "")
    return found


def case_ranks(case: WorkloadCase) -> list[int | None]:
    """How many dimensions each input of `case` has; None for an absent one."""
    found: list[int | None] = []
    for spec in case.inputs:
        first = (spec[0] if spec else None) if isinstance(spec, tuple) else spec
        found.append(len(first.shape) if first is not None and first.present else None)
    return found


def case_column(operator: Operator, case: WorkloadCase) -> int:
    """Index of the dtype column of `case`: the first that has its dtypes and formats, of several
    one whose formats have as many dimensions as the inputs."""
    return find_column(
        operator, case_dtypes(case), formats=case_formats(case), ranks=case_ranks(case)
    )


def find_column(
    operator: Operator,
    dtypes: Sequence[str | None],
    outputs: Sequence[str | None] = (),
    *,
    formats: Sequence[str] = (),
    ranks: Sequence[int | None] = (),
) -> int:
    """Index of the first dtype column that has these input (and output) dtypes and formats.

    Where `ranks` are given, columns whose formats suit them go first: NCHW has four dimensions.

    Raises InputError naming the input that no column fits, or the combination.
    """
    columns = [len(t.dtypes) for t in (*operator.inputs, *operator.outputs) if t.dtypes]
    if not columns:
        return 0
    pairs = [
        *zip(operator.inputs, dtypes, strict=False),
        *zip(operator.outputs, outputs, strict=False),
    ]
    fitting = []
    for column in range(max(columns)):
        if all(
            dtype is None
            or not spec.dtypes
            or spec.dtypes[min(column, len(spec.dtypes) - 1)] == dtype
            for spec, dtype in pairs
        ) and all(
            not name or name == (spec.formats[min(column, len(spec.formats) - 1)])
            for spec, name in zip(operator.inputs, formats, strict=False)
            if spec.formats
        ):
            fitting.append(column)
    if fitting:
        return min(fitting, key=lambda column: _unlike(operator, column, ranks))
    for spec, dtype in pairs:
        if dtype is not None and spec.dtypes and dtype not in spec.dtypes:
            raise InputError(
                f"{operator.op_type} takes no {dtype} for '{spec.name}'; its definition has"
                f" {', '.join(dict.fromkeys(spec.dtypes))}."
            )
    given = ", ".join(f"{spec.name}: {dtype}" for spec, dtype in pairs if dtype is not None)
    asked = [f"{s.name}: {f}" for s, f in zip(operator.inputs, formats, strict=False) if f]
    given += f" in the formats {', '.join(asked)}" if asked else ""
    raise InputError(f"No dtype column of {operator.op_type}'s definition has {given} together.")


def _unlike(operator: Operator, column: int, ranks: Sequence[int | None]) -> int:
    """How many inputs have another number of dimensions than their format in the column."""
    return sum(
        rank is not None
        and RANKS.get(spec.formats[min(column, len(spec.formats) - 1)], rank) != rank
        for spec, rank in zip(operator.inputs, ranks, strict=False)
        if spec.formats
    )


def output_dtypes(operator: Operator, case: WorkloadCase) -> list[str]:
    """The dtype of each output, from `case` where it says, else from the matching column."""
    given: list[str | None] = []
    for spec in case.outputs:
        first = (spec[0] if spec else None) if isinstance(spec, tuple) else spec
        given.append(first.dtype if isinstance(first, TensorCase) else None)
    column = find_column(
        operator, case_dtypes(case), given, formats=case_formats(case), ranks=case_ranks(case)
    )
    found = []
    for index, output in enumerate(operator.outputs):
        named = given[index] if index < len(given) else None
        declared = output.dtypes[min(column, len(output.dtypes) - 1)] if output.dtypes else None
        found.append(named or declared or next((d for d in case_dtypes(case) if d), "float32"))
    return found
