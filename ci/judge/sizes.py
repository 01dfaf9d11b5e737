"""How a change fares on small and large inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ci.model.result import OtherSizes

EQUAL: Final = 0.01
"""Times that differ by less count as equal."""


def other_sizes(timed: Iterable[tuple[int, float, float]]) -> OtherSizes:
    """Summarize (input elements, µs before, µs after) of one or more cases."""
    ratios = sorted((size, before / after) for size, before, after in timed)
    differing = [size for size, ratio in ratios if abs(ratio - 1) > EQUAL]
    last = max(differing, default=-1)
    return OtherSizes(
        least=ratios[0][0],
        most=ratios[-1][0],
        slowest=min(ratio for _, ratio in ratios),
        fastest=max(ratio for _, ratio in ratios),
        unchanged_from=next((size for size, _ in ratios if size > last), None),
    )
