"""The landscape of a bank as a self-contained HTML page and as a picture."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

from ci.model.experience import Group, Landscape, Point

COLOURS: Final = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
    "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac", "#2f6f4f", "#7f3c8d",
)  # fmt: skip
WIDTH, HEIGHT, MARGIN = 900, 560, 30


def html(found: Landscape) -> str:
    """One page: the map with each tuple's words on hover, and the table of groups."""
    xs, ys = [p.x for p in found.points], [p.y for p in found.points]
    across, up = max(max(xs) - min(xs), 1e-9), max(max(ys) - min(ys), 1e-9)

    def circle(p: Point) -> str:
        x = MARGIN + (p.x - min(xs)) / across * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - (p.y - min(ys)) / up * (HEIGHT - 2 * MARGIN)
        group = found.groups[p.group]
        outline = "#222" if group.documented else "none"
        effect = "failed" if p.speedup is None else f"{p.speedup:.2f}x"
        told = escape(f"{p.title}\n{p.operator}, {p.direction}, {effect}\n{group.name}\n{p.id}")
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{COLOURS[p.group % len(COLOURS)]}" '
            f'fill-opacity="0.75" stroke="{outline}"><title>{told}</title></circle>'
        )

    rows = "".join(_row(g) for g in found.groups)
    first, second = found.explained
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Experience landscape</title>
<style>body{{font:15px sans-serif;margin:2em auto;max-width:{WIDTH}px;color:#222}}
table{{border-collapse:collapse}}td,th{{padding:.3em .6em;border-bottom:1px solid #ddd;
text-align:left}}svg{{border:1px solid #ddd}}circle:hover{{fill-opacity:1}}</style></head><body>
<h1>Experience landscape</h1>
<p>{len(found.points)} tuples, {len(found.groups)} groups, silhouette {found.silhouette:.2f};
embedding {escape(found.embedding_model)}; the axes hold {first:.0%} and {second:.0%} of the
variance. Outlined: groups that one documented best-practice category dominates.</p>
<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(map(circle, found.points))}</svg>
<table><tr><th></th><th>group</th><th>tuples</th><th>documented</th><th>share</th>
<th>mean effect</th><th>most frequent</th></tr>{rows}</table></body></html>
"""


def _row(g: Group) -> str:
    colour = COLOURS[g.number % len(COLOURS)]
    cells = (
        f'<span style="color:{colour}">●</span>',
        escape(g.name),
        str(g.size),
        "yes" if g.documented else "no",
        f"{g.share:.0%} {escape(g.category)}",
        f"{g.mean_speedup:.2f}x",
        escape("; ".join(g.motifs)),
    )
    return "<tr>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"


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
