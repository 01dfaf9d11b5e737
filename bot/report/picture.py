"""Pictures of a result as SVG text: same result, same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bot.report.facts import PipeRow, Point
from ci.model.trial import Outcome

INK: Final = "#1f2933"
MUTED: Final = "#56636f"
GRID: Final = "#e4e7eb"
BEFORE: Final = "#8592a0"
AFTER: Final = "#0f766e"
FAILED: Final = "#c2410c"
STAGE_COLOUR: Final = {
    "baseline": INK,
    "tiling": "#2563eb",
    "kernel": "#0f766e",
    "joint": "#b45309",
    "rewind": "#7c3aed",
}

PAPER: Final = "#ffffff"
_VARIABLES: Final = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    BEFORE: "before",
    AFTER: "after",
    FAILED: "failed",
    PAPER: "paper",
    STAGE_COLOUR["tiling"]: "blue",
    STAGE_COLOUR["joint"]: "joint",
    STAGE_COLOUR["rewind"]: "rewind",
}
"""Colours that a page may choose otherwise, by the names of its variables."""

_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "ascendopt",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "axes.axisbelow": True,
}


def _svg(figure: Figure) -> str:
    """The figure as an `<svg>` element without prolog, so that it can stand inside HTML."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = file.getvalue()
    return re.sub(r"^.*?(?=<svg)", "", text, count=1, flags=re.DOTALL)


def themed(svg: str) -> str:
    """The picture in the colours of the page around it, light or dark."""
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg


@contextmanager
def drawn(width: float, height: float) -> Iterator[tuple[Axes, Callable[[], str]]]:
    """Axes of a size in inches in the style of all pictures, and what gives their SVG text."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots(), lambda: _svg(figure)


# A report shows each picture twice: in a file of its own and in the page.
_drawn_once = lru_cache(maxsize=4)


@_drawn_once
def trajectory_picture(points: tuple[Point, ...], unit: str) -> str:
    """Every evaluation's score by trial number, the best so far as a line, failures below."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 3.1), layout="constrained")
        axes = figure.subplots()
        numbers = [p.trial for p in points]
        axes.step(
            numbers,
            [p.best_us for p in points],
            where="post",
            color=INK,
            lw=1.6,
            label="best so far",
        )
        for stage, colour in STAGE_COLOUR.items():
            measured = [p for p in points if p.stage == stage]
            measured = [p for p in measured if p.score_us is not None]
            for point in measured:
                # Hollow: right, but no improvement (a case became slower, or nothing changed).
                filled = point.acceptable or stage == "baseline"
                axes.scatter(
                    [point.trial],
                    [point.score_us or 0.0],
                    s=26,
                    facecolor=colour if filled else "white",
                    edgecolor=colour,
                    linewidth=1.1,
                    zorder=3,
                )
            if measured:
                axes.scatter([], [], s=26, color=colour, label=stage)
        if any(p.score_us and not p.acceptable and p.stage != "baseline" for p in points):
            axes.scatter([], [], s=26, facecolor="white", edgecolor=MUTED, label="no improvement")
        failed = [p.trial for p in points if p.outcome is not Outcome.OK]
        if failed:
            axes.scatter(
                failed,
                [0.03] * len(failed),
                transform=axes.get_xaxis_transform(),
                marker="x",
                s=22,
                color=FAILED,
                linewidth=1.3,
                zorder=3,
                label="failed a check",
            )
        scores = sorted(p.score_us for p in points if p.score_us)
        if scores and scores[-1] > 8 * scores[0]:
            # One very slow candidate must not flatten the rest of the picture.
            axes.set_yscale("log")
        axes.margins(y=0.14)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("evaluation (trial number)")
        axes.set_ylabel(f"{unit}, µs")
        axes.legend(
            frameon=False,
            ncols=6,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            borderpad=0.1,
            handletextpad=0.4,
            columnspacing=1.2,
        )
        return _svg(figure)


@_drawn_once
def pipes_picture(rows: tuple[PipeRow, ...]) -> str:
    """Busy cycles of each pipe, before above after."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 0.75 + 0.48 * len(rows)), layout="constrained")
        axes = figure.subplots()
        places = range(len(rows))
        widest = max((max(r.before_cycles, r.after_cycles) for r in rows), default=1.0) or 1.0
        for offset, colour, name, cycles, shares in (
            (
                -0.2,
                BEFORE,
                "before",
                [r.before_cycles for r in rows],
                [r.before_share for r in rows],
            ),
            (0.2, AFTER, "after", [r.after_cycles for r in rows], [r.after_share for r in rows]),
        ):
            axes.barh([p + offset for p in places], cycles, height=0.36, color=colour, label=name)
            for place, value, share in zip(places, cycles, shares, strict=True):
                axes.text(
                    value + widest * 0.008,
                    place + offset,
                    f"{value:,.0f}  ({share:.0%})",
                    va="center",
                    fontsize=7.5,
                    color=INK if name == "after" else MUTED,
                )
        axes.set_yticks(list(places), [r.pipe for r in rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlim(0, widest * 1.17)
        axes.set_xlabel("mean busy cycles per core, all cases (share of the launch)")
        axes.legend(
            frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), borderpad=0.1
        )
        return _svg(figure)
