"""`ascendopt bench ablation`: what each stage and the bank are worth, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.options import OrdinaryPath, build, json_option, options, show_suite
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from lab import session as lab
from lab.model.ablation import AblationSettings, Cell
from lab.report.ablation import markdown, plot


class AblationOptions(Frozen):
    """Where experience comes from and what is left."""

    bank: Path | None = Field(
        default=None, description="Bank file; the shipped tuples in a new bank when not given."
    )
    out: Folder = Field(
        default=Path("ascendopt-out/ablation"),
        description="Folder of the runs; those that it holds already are not run again.",
    )


@options(AblationSettings, AblationOptions)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
@json_option
def ablation(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Compare the stages, with and without the bank, on OPERATORS at the same budget.

    OPERATORS are folders of operators or repositories; the shipped ones when none is given. Leaves
    ablation.md, ablation.json and ablation.png in --out. May be interrupted and run again.
    """
    settings = build(AblationSettings, given)
    own = build(AblationOptions, given)
    settings.chosen()
    own.out.mkdir(parents=True, exist_ok=True)
    bank = own.bank or own.out / "bank.duckdb"
    found = lab.bench_ablation(operators, settings, bank, own.out, _echo)
    text = markdown(found)
    (own.out / "ablation.md").write_text(text, encoding="utf-8")
    (own.out / "ablation.json").write_text(found.model_dump_json(indent=2), encoding="utf-8")
    plot(found, own.out / "ablation.png")
    show_suite(found, text, as_json)


def _echo(cell: Cell) -> None:
    click.echo(
        f"{cell.operator:<24} {cell.arm:<16} seed {cell.seed}  {cell.speedup:.3f}x", err=True
    )
