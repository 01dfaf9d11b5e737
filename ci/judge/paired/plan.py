"""When to look at the pairs and what is decided at each look: a group sequential test.

The error that may be made in all is spent over the looks (K. Lan and D. DeMets, Biometrika 70
(1983) 659), by their function that resembles Pocock's: α·ln(1 + (e - 1)·t) at the share t of the
pairs. Each look is tested at what it may spend alone, so that the sum bounds the error however the
looks depend on each other. Stopping early because a candidate is not faster spends nothing of the
error of calling one faster.
"""

from __future__ import annotations

from math import e, log, log1p

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from ci.judge.paired.signed_rank import (
    Floats,
    estimate,
    least_p,
    lower_bound,
    trimmed,
    upper_bound,
    walsh,
)
from ci.model.amount import amount
from ci.model.comparison import MINIMUM_EFFECT
from ci.model.frozen import Frozen
from ci.model.paired import Paired, PairedVerdict

LEAST_PAIRS = 10
"""Fewer pairs cannot attain the error that a look may spend."""


UNBOUNDED = 1e6
"""The upper end of an interval that too few pairs leave open."""


class Plan(Frozen):
    """How sure a verdict must be, and how many pairs may be spent on it."""

    looks: tuple[int, ...] = Field(
        default=(10, 20, 30, 40, 50), description="After so many pairs the verdict is asked for."
    )
    false_faster: float = Field(
        default=0.005, gt=0, lt=0.5, description="Chance to call an equal candidate faster."
    )
    missed: float = Field(
        default=0.025, gt=0, lt=0.5, description="Chance to give up a gain that must be found."
    )
    must_find: float = Field(
        default=0.05, gt=0, description="Relative gain that must be found if it is there."
    )
    minimum_effect: float = Field(
        default=MINIMUM_EFFECT, ge=0, description="Relative gain below which none is claimed."
    )

    @model_validator(mode="after")
    def _attainable(self) -> Plan:
        if list(self.looks) != sorted(set(self.looks)) or not self.looks:
            raise ValueError("the looks must be numbers of pairs in rising order")
        if self.looks[0] < LEAST_PAIRS:
            raise ValueError(f"the first look must have at least {LEAST_PAIRS} pairs")
        if not any(trimmed(n, self.spend(self.false_faster, n)) >= 0 for n in self.looks):
            raise ValueError(
                f"{amount(self.looks[-1], 'pair')} attain no p below"
                f" {least_p(self.looks[-1]):.2g}, and the"
                f" looks may spend only {self.false_faster:.2g}: plan more pairs"
            )
        return self

    def spend(self, error: float, pairs: int) -> float:
        """What of an error the look at so many pairs may spend."""
        before = max((n for n in self.looks if n < pairs), default=0)
        return error * (_spent(pairs / self.looks[-1]) - _spent(before / self.looks[-1]))

    def least_gain(self, floor: float) -> float:
        """The gain that is claimed must be larger than this."""
        return max(self.minimum_effect, floor)

    def decide(self, logs: Floats, floor: float | Floats) -> Bounds:
        """The verdict of a look.

        `logs` are the logarithms of baseline over candidate, pairs along the last axis; with
        further axes in front many experiments are decided at once. The number of pairs may be
        less than that of the look they were taken for: dropped pairs make a verdict less likely,
        not less sure. Raises ValueError when there are more than the plan has.
        """
        pairs = logs.shape[-1]
        look = next((n for n in self.looks if n >= pairs), None)
        if look is None or pairs == 0:
            raise ValueError(f"the plan has no look at {amount(pairs, 'pair')}")
        averages = walsh(logs)
        least = np.log1p(np.maximum(self.minimum_effect, floor))
        # What must be found has to lie beyond what may be claimed, or nothing could be given up.
        found = np.maximum(log1p(self.must_find), 2 * least)
        return Bounds(
            estimate(averages),
            lower_bound(averages, pairs, self.spend(self.false_faster, look)),
            upper_bound(averages, pairs, self.spend(self.missed, look)),
            least,
            found,
        )


class Bounds:
    """What a look at the pairs says of the logarithm of the ratio."""

    def __init__(
        self, middle: Floats, low: Floats, high: Floats, least: Floats, found: Floats
    ) -> None:
        self.middle, self.low, self.high = middle, low, high
        self.faster = np.asarray(low > least)
        """The whole interval lies above what may be claimed."""
        self.not_faster = np.asarray(~self.faster & (high < found) & (middle <= least))
        """A gain that must be found is refuted, and none that may be claimed is seen."""

    @property
    def decided(self) -> npt.NDArray[np.bool_]:
        """Whether no more pairs are needed."""
        return np.asarray(self.faster | self.not_faster)

    def paired(self, pairs: int, floor: float, dropped: dict[str, int]) -> Paired:
        """The same as data, for one experiment."""
        verdict: PairedVerdict = "unknown"
        if self.decided:
            verdict = "faster" if self.faster else "not faster"
        ratio, low = float(np.exp(self.middle)), float(np.exp(self.low))
        high = min(float(np.exp(self.high)), UNBOUNDED)
        return Paired(
            verdict=verdict,
            pairs=pairs,
            ratio=ratio,
            low=low,
            high=high,
            floor=floor,
            dropped=dropped,
        )


def _spent(share: float) -> float:
    return log(1 + (e - 1) * share)
