"""How far two builds of one program may differ on a device: learnt from A/A runs and kept.

An A/A run holds the unmodified operator against a second build of itself. What its pairs scatter is
no floor: the test of the pairs takes it into account. What the runs' means differ from nothing by
more than their pairs explain is one: where a build's code, its tensors or its process came to lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import Field

from ci.judge.paired.signed_rank import Floats
from ci.model.comparison import HARDWARE_FLOOR
from ci.model.frozen import Frozen

ENOUGH_RUNS: Final = 5
"""Fewer A/A runs than this leave the floor at the one that is assumed."""

LATEST_RUNS: Final = 20
"""Older runs are forgotten: a device's noise changes with what runs next to."""

BEYOND: Final = 2.6
"""Standard deviations of the runs' means that the floor is: 1 % of a normal spread lies beyond."""


class AARun(Frozen):
    """One A/A run: the mean of the logarithms of its pairs' ratios, and how sure that is."""

    mean: float = Field(description="0 for a device without a floor.")
    error: float = Field(ge=0, description="Standard error of the mean, from the pairs' scatter.")

    @classmethod
    def of(cls, logs: Floats) -> AARun:
        """What the logarithms of a run's pairs say; at least two of them."""
        means, errors = means_and_errors(logs)
        return cls(mean=float(means), error=float(errors))


def means_and_errors(logs: Floats) -> tuple[Floats, Floats]:
    """Mean and standard error along the last axis, an eighth trimmed off at each end.

    Trimmed, because one disturbed pair would be taken for a floor (J. Tukey and D. McLaughlin,
    Sankhya A 25 (1963) 331, for the error of a trimmed mean).
    """
    pairs = logs.shape[-1]
    cut = pairs // 8
    ordered = np.sort(logs, axis=-1)
    inner = ordered[..., cut : pairs - cut]
    winsorized = np.clip(ordered, inner[..., :1], inner[..., -1:])
    spread = winsorized.std(axis=-1, ddof=1)
    return np.asarray(inner.mean(axis=-1)), np.asarray(
        spread / ((1 - 2 * cut / pairs) * np.sqrt(pairs))
    )


def floor_of(means: Floats, errors: Floats) -> Floats:
    """The relative floor that A/A runs along the last axis show.

    The variance between runs, by moments about the known mean of 0 (R. DerSimonian and N. Laird,
    Controlled Clinical Trials 7 (1986) 177), as standard deviations.
    """
    between = np.maximum((means**2 - errors**2).mean(axis=-1), 0.0)
    return np.asarray(np.expm1(BEYOND * np.sqrt(between)))


def floor(runs: Sequence[AARun]) -> float:
    """The floor of a device and operator; the assumed one while there are too few runs."""
    if len(runs) < ENOUGH_RUNS:
        return HARDWARE_FLOOR
    latest = runs[-LATEST_RUNS:]
    means, errors = (np.array([getattr(r, name) for r in latest]) for name in ("mean", "error"))
    return float(floor_of(means, errors))
