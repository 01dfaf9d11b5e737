"""The ablation in words and pictures: Markdown tables, distribution and trajectories."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

from lab.model.ablation import ARMS, THRESHOLDS, TITLES, Ablation
from lab.report.view import page


def markdown(found: Ablation) -> str:
    """The tables, with the settings that give them again."""
    return page(
        "ablation.md.j2",
        found=found,
        operators=len({cell.operator for cell in found.cells}),
        titles=TITLES,
        thresholds=THRESHOLDS,
        differences=(("Stage II", found.stage_two), ("Both stages", found.both)),
    )


def plot(found: Ablation, path: Path) -> None:
    """Share of runs at or above a speedup, and the best speedup after each evaluation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for arm in ARMS:
        cells = [c for c in found.cells if c.arm == arm]
        if not cells:
            continue
        speedups = sorted((c.speedup for c in cells), reverse=True)
        share = [(i + 1) / len(speedups) for i in range(len(speedups))]
        left.step([speedups[0], *speedups], [0.0, *share], where="pre", label=TITLES[arm])
        length = min(len(c.best_after) for c in cells)
        means = [exp(sum(log(c.best_after[i]) for c in cells) / len(cells)) for i in range(length)]
        right.plot(range(1, length + 1), means, marker="o", markersize=3, label=TITLES[arm])
    left.set(xlabel="speedup", ylabel="share of runs at or above", title="Distribution")
    right.set(xlabel="evaluations", ylabel="geometric mean of the best", title="Trajectory")
    left.legend(fontsize=7)
    figure.savefig(path, dpi=120)
