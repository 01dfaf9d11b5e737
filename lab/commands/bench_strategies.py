"""`ascendopt bench strategies`: search strategies side by side in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.options import OrdinaryPath, PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import ProposerOptions
from lab import session as lab
from lab.model.strategies import SUITE, StrategyBench, StrategyBenchSettings
from lab.report.strategies import distribution, markdown, trajectories


class StrategyBenchOptions(Frozen):
    """Where experience comes from and what is left."""

    bank: Path | None = Field(
        default=None, description="Bank file; the shipped tuples in a new bank when not given."
    )
    out: Folder = Field(
        default=Path("ascendopt-out/strategies"),
        description="Folder of the runs; those that it holds already are not made again.",
    )


@options(StrategyBenchSettings, ProposerOptions, StrategyBenchOptions, PageOptions)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
@json_option
def strategies(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Compare search strategies on the same OPERATORS, budget, proposer and seeds.

    OPERATORS are folders of operators or repositories; with --repository its operators too, and
    the shipped ones when neither is given. Leaves strategies.md, strategies.json and pictures in
    --out, and each run with its trials in OPERATOR/seed-N/STRATEGY-BUDGET below. May be stopped
    and run again; it goes on where it was.
    """
    settings = build(StrategyBenchSettings, given)
    own = build(StrategyBenchOptions, given)
    own.out.mkdir(parents=True, exist_ok=True)
    found = lab.bench_strategies(
        operators,
        settings,
        build(ProposerOptions, given),
        own.bank or own.out / "bank.duckdb",
        own.out,
        lambda text: click.echo(text, err=True),
    )
    _draw(found, own.out)
    text = markdown(found)
    (own.out / "strategies.md").write_text(text, encoding="utf-8")
    (own.out / "strategies.json").write_text(found.model_dump_json(indent=1), encoding="utf-8")
    page = build(PageOptions, given).markdown
    if page is not None:
        replace_part(page, part(settings.suite), markdown(found, images="images/"))
        _draw(found, page.parent / "images")
    show_suite(found, text, as_json)


def part(suite: str) -> str:
    """The words behind `ascendopt bench` that the page's part of a suite is known by."""
    return "strategies" if suite == SUITE else f"strategies --suite {suite}"


def _draw(found: StrategyBench, folder: Path) -> None:
    if not found.rows:
        return
    folder.mkdir(exist_ok=True)
    stem = f"strategies-{found.settings.suite}"
    for name, svg in (("trajectory", trajectories(found)), ("cdf", distribution(found))):
        (folder / f"{stem}-{name}.svg").write_text(svg, encoding="utf-8")
