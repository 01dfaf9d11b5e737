"""The page that says how well the machine's time agrees with published figures, with plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader

from lab.published.doors import APART, DoorResult, differing, recommended
from lab.published.figures import STATE_TARGET, Version, load_remarks
from lab.published.statistics import (
    DIFFERENT,
    PIPE_TARGET,
    RATIO_TARGET,
    FamilyResult,
    PairResult,
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
    return _rendered("summary.md.j2", families=families).splitlines()


def totals(doors: Sequence[DoorResult]) -> list[str]:
    """The table of the doors, as Markdown lines."""
    return _rendered("totals.md.j2", doors=doors).splitlines()


def page(doors: Sequence[DoorResult], missing: Sequence[Version], device: str) -> str:
    """The whole page as Markdown: the first door's families, and how the doors differ."""
    families = doors[0].families
    return _rendered(
        "page.md.j2",
        families=families,
        doors=doors,
        differing=differing(*doors[:2]) if len(doors) > 1 else [],
        missing=sorted({version.family for version in missing}),
        device=device,
        misses=misses(families),
        different=DIFFERENT,
        apart=APART,
        recommended=recommended(doors).door,
        ratio_target=RATIO_TARGET,
        pipe_target=PIPE_TARGET,
        state_target=STATE_TARGET,
    )


def _rendered(template: str, **values: object) -> str:
    jinja = Environment(  # noqa: S701  (Markdown, of figures and texts of our own)
        loader=FileSystemLoader(Path(__file__).parent), trim_blocks=True, keep_trailing_newline=True
    )
    jinja.filters |= {
        "share": "{:.0%}".format,
        "percent": "{:.1%}".format,
        "signed": "{:+.1%}".format,
        "figure": "{:,.1f}".format,
        "unit": lambda version: "ticks" if version.unit == "ticks" else "µs",
    }
    return jinja.get_template(template).render(values)


def write_page(folder: Path, doors: Sequence[DoorResult], missing: Sequence[Version]) -> Path:
    """Write validation.md and its plots below `folder`; answers the page's path."""
    families = doors[0].families
    devices = sorted({run.version.device for one in families for run in one.versions})
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    _plot_times(families, folder / IMAGES / TIMES)
    _plot_pipes(families, folder / IMAGES / PIPES)
    path = folder / "validation.md"
    path.write_text(page(doors, missing, ", ".join(devices)), encoding="utf-8")
    return path


def _name(result: PairResult) -> str:
    return f"{result.pair.before} → {result.pair.after}"


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
