"""The landscape of a bank as a self-contained HTML page and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.report.view import page
from ci.model.experience import Landscape

COLOURS: Final = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
    "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac", "#2f6f4f", "#7f3c8d",
)  # fmt: skip
WIDTH, HEIGHT, MARGIN = 900, 560, 30


def html(found: Landscape) -> str:
    """One page: the map with each tuple's words on hover, and the table of groups."""
    xs, ys = [p.x for p in found.points], [p.y for p in found.points]
    across, up = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)

    places = [
        (
            p,
            MARGIN + (p.x - min(xs)) / across * (WIDTH - 2 * MARGIN),
            HEIGHT - MARGIN - (p.y - min(ys)) / up * (HEIGHT - 2 * MARGIN),
        )
        for p in found.points
    ]
    shown = {"width": WIDTH, "height": HEIGHT, "colours": COLOURS}
    return page("landscape.html.j2", found=found, places=places, **shown)


def picture(found: Landscape, path: Path) -> None:
    """The same map as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots()
    for group in found.groups:
        mine = [p for p in found.points if p.group == group.number]
        axes.scatter(
            [p.x for p in mine],
            [p.y for p in mine],
            s=28,
            color=COLOURS[group.number % len(COLOURS)],
            edgecolors="#222" if group.documented else "none",
            alpha=0.8,
            label=f"{group.name} ({group.size})",
        )
    first, second = found.explained
    axes.set(xlabel=f"first axis ({first:.0%})", ylabel=f"second axis ({second:.0%})")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=110)
