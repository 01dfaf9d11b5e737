"""`ascendopt bench machine`: evaluations an hour, and where the time goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.options import OrdinaryPath, PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from lab import session as lab
from lab.model.machine import MachineBenchSettings
from lab.report.speed import goals, tables


@options(MachineBenchSettings, PageOptions)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
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
    own = build(PageOptions, given)
    found = lab.bench_machine(operators, settings, lambda text: click.echo(text, err=True))
    if own.markdown is not None:
        replace_part(own.markdown, "machine", tables(found))
    show_suite(found, tables(found), as_json)
    ctx.exit(0 if all(goal.met for goal in goals(found)) else 1)
