"""`ascendopt bench sanitizers`: the share of planted synchronisation faults that are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console
from rich.markdown import Markdown

from bot.cli.options import build, json_option, options
from bot.report.sanitizers import tables, update_page
from ci.model.bench.sanitizers import SanitizerBenchSettings
from ci.model.frozen import Frozen
from ci.session import lab


class SanitizerOptions(Frozen):
    """Where the page goes."""

    markdown: Path | None = Field(
        default=None, description="File whose measured part is written anew (docs/sanitizers.md)."
    )


@options(SanitizerBenchSettings, SanitizerOptions)
@click.command()
@click.argument("operators", type=click.Path(path_type=Path), nargs=-1)
@json_option
def sanitizers(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Plant synchronisation faults into the kernels of OPERATORS; say which are missed.

    OPERATORS are folders of operators or repositories; the shipped ones when none is given. Needs
    a compilation a fault; with a record a run that was stopped goes on where it was.
    """
    settings = build(SanitizerBenchSettings, given)
    own = build(SanitizerOptions, given)
    found, reasons = lab.bench_sanitizers(
        operators, settings, lambda text: click.echo(text, err=True)
    )
    if own.markdown is not None:
        update_page(own.markdown, found, reasons)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        Console().print(Markdown(tables(found, reasons)))
