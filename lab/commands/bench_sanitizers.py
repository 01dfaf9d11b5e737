"""`ascendopt bench sanitizers`: the share of planted synchronisation faults that are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.options import OrdinaryPath, PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from lab import session as lab
from lab.model.sanitizers import SanitizerBenchSettings
from lab.report.sanitizers import tables


@options(SanitizerBenchSettings, PageOptions)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
@json_option
def sanitizers(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Plant synchronisation faults into the kernels of OPERATORS; say which are missed.

    OPERATORS are folders of operators or repositories; the shipped ones when none is given. Needs
    a compilation a fault; with a record a run that was stopped goes on where it was.
    """
    settings = build(SanitizerBenchSettings, given)
    own = build(PageOptions, given)
    found, reasons = lab.bench_sanitizers(
        operators, settings, lambda text: click.echo(text, err=True)
    )
    if own.markdown is not None:
        replace_part(own.markdown, "sanitizers", tables(found, reasons))
    show_suite(found, tables(found, reasons), as_json)
