"""Outputs whose shape the kernel tells: room for the largest, and what of it the kernel gave.

Next to the outputs such a kernel gets a row of nine 64-bit numbers for each of them
(`.OutputShapeDependOnCompute()` in the AscendC documentation): how many dimensions there are, with
bit 31 set where the lengths are 64-bit, then up to eight lengths.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ci.model.amount import amount
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Array, Tensors
from ci.model.operator import Operator
from ci.model.trial import Outcome, Refusal
from ci.model.workload import TensorCase, WorkloadCase

ROW = 9
_WIDE = 1 << 31


def with_room(operator: Operator, case: WorkloadCase, outputs: Tensors) -> Tensors:
    """The outputs as large as the case declares them, and behind them the rows of the shapes.

    Raises InputError when the case does not declare an output whose shape the kernel tells.
    """
    if not operator.tells_output_shape:
        return outputs
    roomy = list(outputs)
    for index in _told(operator):
        like, declared = roomy[index], case.outputs[index] if index < len(case.outputs) else None
        if not isinstance(declared, TensorCase) or not isinstance(like, np.ndarray):
            raise InputError(
                f"case '{case.name}': the kernel tells the shape of output"
                f" '{operator.outputs[index].name}'; give the largest one under outputs."
            )
        roomy[index] = np.zeros(declared.shape, like.dtype)
    return [*roomy, np.zeros((len(_told(operator)), ROW), np.uint64)]


def filled(operator: Operator, outputs: Tensors) -> dict[int, float]:
    """What these outputs and rows hold before the launch, by index.

    A kernel writes only as much of them as there is; what it counts as written and did not write
    must not be right by chance.
    """
    if not operator.tells_output_shape:
        return {}
    found = {index: _odd(outputs[index]) for index in _told(operator)}
    return {**found, len(outputs) - 1: 0.0}


def told(operator: Operator, outputs: Tensors) -> Tensors:
    """The outputs of `with_room` in the shapes that the kernel reported, without the rows.

    A kernel that tells none filled all of the room. Raises TrialFailure(WRONG_RESULT) for a shape
    that the room cannot hold.
    """
    if not operator.tells_output_shape:
        return outputs
    *found, rows = outputs
    assert isinstance(rows, np.ndarray)
    for row, index in zip(rows, _told(operator), strict=True):
        room = found[index]
        assert isinstance(room, np.ndarray)
        found[index] = _shaped(operator.outputs[index].name, [int(n) for n in row], room)
    return found


def _told(operator: Operator) -> list[int]:
    return [index for index, spec in enumerate(operator.outputs) if spec.shape_depends]


def _shaped(name: str, row: list[int], room: Array) -> Array:
    count = row[0] & (_WIDE - 1)
    shape = tuple(row[1 : 1 + count])
    if not any(row):
        return room
    if count >= ROW or prod(shape) > room.size:
        lengths = "x".join(map(str, shape))
        raise TrialFailure(
            Outcome.WRONG_RESULT,
            Refusal(
                sentence=f"The kernel tells {amount(count, 'dimension')} ({lengths}) for output"
                f" {name}, "
                f"which has room for {amount(room.size, 'element')}."
            ),
        )
    return room.ravel()[: prod(shape)].reshape(shape)


def _odd(tensor: object) -> float:
    """A value that results seldom have."""
    assert isinstance(tensor, np.ndarray)
    if tensor.dtype.kind in "fc":
        return float("nan")
    return 1.0 if tensor.dtype.kind == "b" else float(np.iinfo(tensor.dtype).max // 3)
