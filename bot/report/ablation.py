"""The ablation in words and pictures: Markdown tables, distribution and trajectories."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

from ci.model.bench.ablation import ARMS, THRESHOLDS, TITLES, Ablation, Difference


def markdown(found: Ablation) -> str:
    """The tables, with the settings that give them again."""
    settings = found.settings
    start = f"{settings.weaken} optimizations taken back" if settings.weaken else "as they stand"
    lines = [
        f"{len({c.operator for c in found.cells})} operators {start}, budget {settings.budget}, "
        f"{settings.seeds} seed{'s' if settings.seeds > 1 else ''}, {found.device} simulated "
        f"({found.version}), bank of {found.bank_tuples} tuples less each operator's own.",
        "",
        "| arm | runs | geometric mean | " + " | ".join(f"fast_{p}" for p in THRESHOLDS) + " |",
        "|---|---|---|" + "---|" * len(THRESHOLDS),
    ]
    for row in found.rows:
        shares = " | ".join(f"{row.fast[str(p)]:.0%}" for p in THRESHOLDS)
        lines.append(f"| {TITLES[row.arm]} | {row.runs} | {row.mean:.3f}x | {shares} |")
    lines.append("")
    if found.stage_two is not None:
        lines += [_said("Stage II with the bank against without", found.stage_two), ""]
    if found.both is not None:
        lines += [_said("Both stages with the bank against without", found.both), ""]
    if found.left_out:
        lines += [f"Without a start: {', '.join(found.left_out)}.", ""]
    return "\n".join(lines)


def _said(what: str, d: Difference) -> str:
    verdict = (
        "the bank helps"
        if d.low > 1
        else "the bank harms"
        if d.high < 1
        else "no difference is shown"
    )
    return (
        f"{what}, on operators left out of its making: {d.ratio:.3f}x "
        f"(95 % interval {d.low:.3f} to {d.high:.3f}, {d.operators} operators, {d.better} better, "
        f"{d.worse} worse): {verdict}."
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
