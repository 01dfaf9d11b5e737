"""The page that says how well the machine's time agrees with published figures, with plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ci.lab.published.figures import Version, load_remarks
from ci.lab.published.statistics import (
    DIFFERENT,
    PIPE_TARGET,
    RATIO_TARGET,
    FamilyResult,
    PairResult,
    PipeResult,
)

IMAGES: Final = "images"
TIMES: Final = "validation-times.png"
PIPES: Final = "validation-pipes.png"


def misses(families: Sequence[FamilyResult]) -> list[str]:
    """Every target that is missed, one sentence each, with the reason where one is known."""
    remarks = load_remarks()
    said = []
    for family in families:
        said += [
            f"{family.family} {_name(one)}: the pair that differs by {one.published:.2f} is"
            f" ordered wrong ({one.simulated:.2f})."
            for one in family.pairs
            if one.judged and not one.ordered
        ]
        if family.ratio_error > RATIO_TARGET:
            said.append(f"{family.family}: the median ratio error is {family.ratio_error:.0%}.")
        said += [
            f"{family.family} {pipe.version}: {pipe.pipe} is {pipe.error:+.0%} off"
            f" ({pipe.simulated_us:,.1f} for {pipe.published_us:,.1f} µs)."
            f" {remarks.get((family.family, pipe.pipe), '')}".rstrip()
            for pipe in family.pipes
            if abs(pipe.error) > PIPE_TARGET
        ]
    return said


def summary(families: Sequence[FamilyResult]) -> list[str]:
    """The table of the families, as Markdown lines."""
    lines = [
        "| family | versions | rank correlation | pairs in order | time error | ratio error |"
        " pipe error |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in families:
        lines.append(
            f"| {one.family} | {len(one.versions)} | {one.rank_correlation:.2f} |"
            f" {one.in_order} of {one.to_order} | {one.time_error:.1%} | {one.ratio_error:.1%} |"
            f" {_pipe_error(one)} |"
        )
    return lines


def page(families: Sequence[FamilyResult], missing: Sequence[Version], device: str) -> str:
    """The whole page as Markdown."""
    lines = [
        "# Validation of the machine's time",
        "",
        "<!-- Written by `ascendopt machine validate --page docs`; run it, do not edit. -->",
        "",
        "Published times of kernels on a real 910B1, against simulated times of operators of ours"
        " that do the same (`ci/lab/published/src`, written from their descriptions). Every"
        " run's results were verified. [The machine model](machine-model.md) says which of these"
        " figures constants were taken from: most, so they show how far few constants go, not how"
        " well kernels of another kind are foretold; bank_conflict_nd2nz alone gave none.",
        "",
        f"Device model: {device}.",
        "",
        *summary(families),
        "",
        "Errors are medians of absolute relative errors: of the versions' whole times, of the ratio"
        " before / after of the published pairs, of the busy times of pipes. Rank correlation is"
        " Kendall's tau of the times. In order: of all two versions of a family whose published"
        f" times differ by more than {DIFFERENT:.0%}.",
        "",
        f"![Simulated against published times]({IMAGES}/{TIMES})",
        "",
        f"![Errors of the pipes' times]({IMAGES}/{PIPES})",
        "",
        "## What misses its target",
        "",
        f"Targets: every published pair that differs by more than {DIFFERENT:.0%} in order, median"
        f" ratio error under {RATIO_TARGET:.0%}, every pipe within {PIPE_TARGET:.0%}.",
        "",
    ]
    lines += [f"- {sentence}" for sentence in misses(families)] or ["Nothing."]
    if missing:
        names = sorted({version.family for version in missing})
        lines += ["", f"Not rebuilt: {', '.join(names)}."]
    for family in families:
        lines += ["", f"## {family.family}", "", *_versions(family), "", *_pairs(family)]
    return "\n".join(lines) + "\n"


def write_page(
    folder: Path, families: Sequence[FamilyResult], missing: Sequence[Version], device: str
) -> Path:
    """Write validation.md and its plots below `folder`; answers the page's path."""
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    _plot_times(families, folder / IMAGES / TIMES)
    _plot_pipes(families, folder / IMAGES / PIPES)
    path = folder / "validation.md"
    path.write_text(page(families, missing, device), encoding="utf-8")
    return path


def _name(result: PairResult) -> str:
    return f"{result.pair.before} → {result.pair.after}"


def _pipe_error(family: FamilyResult) -> str:
    return f"{family.pipe_error:.1%}" if family.pipes else "none published"


def _versions(family: FamilyResult) -> list[str]:
    pipes: dict[str, list[PipeResult]] = {}
    for pipe in family.pipes:
        pipes.setdefault(pipe.version, []).append(pipe)
    lines = [
        "| version | what | published | simulated | error | pipes: simulated / published µs |",
        "|---|---|---|---|---|---|",
    ]
    for run in family.versions:
        version = run.version
        unit = "ticks" if version.unit == "ticks" else "µs"
        shares = ", ".join(
            f"{one.pipe} {one.simulated_us:,.1f} / {one.published_us:,.1f}"
            for one in pipes.get(version.version, [])
        )
        lines.append(
            f"| {version.version} | {version.description} | {version.time:,.1f} {unit} |"
            f" {run.time:,.1f} {unit} | {run.time / version.time - 1:+.1%} | {shares} |"
        )
    return lines


def _pairs(family: FamilyResult) -> list[str]:
    lines = [
        "| pair | optimization | published ratio | simulated | error | order |",
        "|---|---|---|---|---|---|",
    ]
    for one in family.pairs:
        order = ("right" if one.ordered else "wrong") if one.judged else "a tie"
        lines.append(
            f"| {_name(one)} | {one.pair.optimization} | {one.published:.3f} |"
            f" {one.simulated:.3f} | {one.error:+.1%} | {order} |"
        )
    return lines


def _plot_times(families: Sequence[FamilyResult], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    every: list[float] = []
    for family in families:
        published = [run.version.time for run in family.versions]
        simulated = [run.time for run in family.versions]
        every += [*published, *simulated]
        axes.loglog(published, simulated, "o", alpha=0.75, label=family.family)
    ends = [min(every, default=1.0) / 1.5, max(every, default=1.0) * 1.5]
    axes.loglog(ends, ends, "-", color="0.5", linewidth=1, label="equal")
    axes.set(xlabel="published, µs or ticks", ylabel="simulated", xlim=ends, ylim=ends)
    axes.legend()
    figure.savefig(path, dpi=120)


def _plot_pipes(families: Sequence[FamilyResult], path: Path) -> None:
    from matplotlib.figure import Figure

    rows = [(f"{f.family} {p.version} {p.pipe}", p.error) for f in families for p in f.pipes]
    figure = Figure(figsize=(7.2, 1.2 + 0.22 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(-100 * PIPE_TARGET, 100 * PIPE_TARGET, color="0.93")
    axes.barh([name for name, _ in rows], [100 * error for _, error in rows], color="tab:blue")
    axes.invert_yaxis()
    axes.tick_params(labelsize=7)
    axes.set_xlabel("error of the pipe's busy time, % (grey: the target)")
    figure.savefig(path, dpi=120)
