"""How a change fares on small and large inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ci.model.result import OtherSizes

EQUAL: Final = 0.01
"""Times that differ by less count as equal."""


def other_sizes(timed: Iterable[tuple[str, int, float, float]]) -> OtherSizes:
    """Summarize (case, input elements, µs before, µs after) of one or more cases."""
    named = [(before / after, case, size) for case, size, before, after in timed]
    ratios = sorted((size, ratio) for ratio, _, size in named)
    differing = [size for size, ratio in ratios if abs(ratio - 1) > EQUAL]
    last = max(differing, default=-1)
    return OtherSizes(
        least=ratios[0][0],
        most=ratios[-1][0],
        slowest=min(named)[0],
        slowest_case=min(named)[1],
        fastest=max(ratio for _, ratio in ratios),
        unchanged_from=next((size for size, _ in ratios if size > last), None),
    )
