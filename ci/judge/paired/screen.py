"""Which pairs count: not those that were taken on a slowed or a shared device.

A pair is dropped for what its two samples show together, whichever of them is the candidate's: so
that dropping favours neither.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ci.judge.paired.signed_rank import Floats
from ci.model.launch import CLOCK_SLACK

OUTLIER: Final = 2.0
"""A sample this many times as long as the median of both programs' was disturbed.

No undisturbed one is: if one program always takes a and the other always b, that median is their
mean, and a < a + b.
"""

MOST_DROPPED: Final = 0.5
"""When more than this share of the pairs is dropped, the device is not fit to measure on."""


class Screened(NamedTuple):
    """Which pairs count, and why the others do not: one flag a pair."""

    kept: npt.NDArray[np.bool_]
    throttled: npt.NDArray[np.bool_]
    contended: npt.NDArray[np.bool_]
    outlier: npt.NDArray[np.bool_]

    @property
    def dropped(self) -> dict[str, int]:
        """How many pairs were dropped, by why; for one experiment."""
        flags = {"throttled": self.throttled, "contended": self.contended, "outlier": self.outlier}
        return {why: int(flag.sum()) for why, flag in flags.items() if flag.any()}


def screen(
    times: Floats, clocks: Floats | None = None, contended: npt.NDArray[np.bool_] | None = None
) -> Screened:
    """Which pairs count.

    `times` in µs has the pairs along the second last axis and baseline and candidate along the
    last, `clocks` each sample's clock as a share of the rated one, NaN where not known,
    `contended` whether another process used the device meanwhile.
    """
    slow = np.zeros(times.shape[:-1], dtype=np.bool_)
    shared = slow.copy()
    if clocks is not None:
        slow = np.any(clocks < 1 - CLOCK_SLACK, axis=-1)
    if contended is not None:
        shared = np.any(contended, axis=-1) & ~slow
    middle = np.median(times, axis=(-2, -1), keepdims=True)
    odd = np.any(times > OUTLIER * middle, axis=-1) & ~slow & ~shared
    return Screened(~(slow | shared | odd), slow, shared, odd)
