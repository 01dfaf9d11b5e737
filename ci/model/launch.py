"""Inputs and results of a launch: tensors, time samples, the profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ci.model.decision import Decision
from ci.model.trial import MachineWarning, PipeTime
from ci.model.workload import WorkloadCase

Array: TypeAlias = npt.NDArray[np.generic]
# One entry an input (or output) of the op definition: an array, a list for a dynamic
# (tensor-list) one, None for an absent optional one. bfloat16 travels as uint16 bits.
Tensor: TypeAlias = Array | list[Array] | None
Tensors: TypeAlias = list[Tensor]


def arrays(tensors: tuple[Array | list[Array] | None, ...] | Tensors) -> list[Array]:
    """All arrays among tensors, tensor lists opened and absent ones left out."""
    found: list[Array] = []
    for tensor in tensors:
        if isinstance(tensor, list):
            found += tensor
        elif tensor is not None:
            found.append(tensor)
    return found


@dataclass(frozen=True)
class CaseRun:
    """The result of one launch: outputs, its time samples in µs and the per-pipe profile."""

    outputs: Tensors
    samples_us: tuple[float, ...]
    pipes: PipeTime
    tiling_key: int
    warnings: tuple[MachineWarning, ...] = ()
    members_us: dict[str, float] = field(default_factory=dict)
    """Times by member of the ensemble that was asked for: the launch's time in µs."""
    decisions: tuple[Decision, ...] = ()
    """Comparisons that ran, in a build that is watched."""


def wrote_nothing(written: int | None, inputs: Tensors, outputs: Tensors) -> bool:
    """Whether a launch that wrote so many bytes of its tensors did nothing.

    None where nobody counted. One of an empty tensor may have nothing to do.
    """
    return written == 0 and all(a.size for a in (*arrays(inputs), *arrays(outputs)))


TABLES: Final = ".tables"
"""Ending of the folder that is in a timeline's place where a device leaves tables only."""

CLOCK_SLACK: Final = 0.02
"""A core clock this share below the rated one is throttled; less is how the tools round."""


class Sample(NamedTuple):
    """One time of a program on a device, with what may have disturbed it."""

    us: float
    clock: float = float("nan")
    """The core's clock meanwhile, as a share of the rated one; NaN where the tools do not say."""
    contended: bool = False
    """Whether another process used the device meanwhile."""

    @property
    def throttled(self) -> bool:
        """Whether the clock is known to have been below the rated one."""
        return self.clock < 1 - CLOCK_SLACK


class Expected(NamedTuple):
    """The arguments that `Build.run` will be called with, named by case and seed."""

    case: WorkloadCase
    seed: int
    inputs: Tensors
    outputs: Tensors
