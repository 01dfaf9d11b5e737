"""The trajectory as a Mermaid chart, which forges draw from text inside a merge request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.base.language import translated as _
from bot.report.facts import Point

# Mermaid squeezes longer axes into illegible ones; longer runs are thinned to this many points.
MOST_POINTS: Final = 60


def trajectory_chart(points: Sequence[Point], unit: str) -> str:
    """An `xychart-beta` of the best score after each evaluation; '' with fewer than two points."""
    if len(points) < 2:
        return ""
    stride = -(-len(points) // MOST_POINTS)
    shown = list(points[::stride])
    if shown[-1] is not points[-1]:
        shown.append(points[-1])
    values = [point.best_us for point in shown]
    margin = (max(values) - min(values)) * 0.1 or max(values) * 0.05
    low, high = max(0.0, min(values) - margin), max(values) + margin
    return "\n".join(
        [
            "xychart-beta",
            f'  title "{_("Best time after each evaluation")}"',
            f'  x-axis "{_("evaluation")}" {shown[0].trial} --> {shown[-1].trial}',
            f'  y-axis "{unit}, µs" {low:.3f} --> {high:.3f}',
            f"  line [{', '.join(f'{value:.3f}' for value in values)}]",
        ]
    )
