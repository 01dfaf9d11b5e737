"""`ascendopt bench machine`: evaluations an hour, and where the time goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console
from rich.markdown import Markdown

from bot.cli.options import build, json_option, options
from bot.report.speed import goals, tables, update_page
from ci.model.bench.machine import MachineBenchSettings
from ci.model.frozen import Frozen
from ci.session import lab


class MachineOptions(Frozen):
    """Where the page goes."""

    markdown: Path | None = Field(
        default=None, description="File whose measured part is written anew (docs/speed.md)."
    )


@options(MachineBenchSettings, MachineOptions)
@click.command()
@click.argument("operators", type=click.Path(path_type=Path), nargs=-1)
@json_option
@click.pass_context
def machine(
    ctx: click.Context, /, operators: tuple[Path, ...], as_json: bool, **given: Any
) -> None:
    """Measure how fast the simulator evaluates candidates of OPERATORS.

    OPERATORS are folders of operators or repositories; the shipped ones when none is given. A
    sample of them is measured unless --sample 0 asks for all. Needs minutes, and a machine with
    nothing else to do. Ends with 1 when a target is missed.
    """
    settings = build(MachineBenchSettings, given)
    own = build(MachineOptions, given)
    found = lab.bench_machine(operators, settings, lambda text: click.echo(text, err=True))
    if own.markdown is not None:
        update_page(own.markdown, found)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        Console().print(Markdown(tables(found)))
    ctx.exit(0 if all(goal.met for goal in goals(found)) else 1)
