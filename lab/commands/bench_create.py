"""`ascendopt bench create`: how many tasks of a benchmark become operators, and how fast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.base.text import visible
from bot.cli.options import OrdinaryPath, PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from lab.model.create import CreateBenchSettings, CreateRow
from lab.report.created import part, table
from lab.session import bench_create


def _say(row: CreateRow) -> None:
    said = "right" if row.right else row.said or "not right"
    click.echo(f"{row.category + '/' + row.task:<48} {visible(said, 200)}", err=True)


@options(CreateBenchSettings, PageOptions)
@click.command()
@click.argument("path", type=OrdinaryPath())
@json_option
def create(path: Path, as_json: bool, **given: Any) -> None:
    """Make an operator of each task at PATH: a checkout of MultiKernelBench, or one file of it.

    A file of golden functions named like operators is a PATH too: with --repository and --workloads
    each one that is made is held against the operator written by hand, on the same cases. Nothing
    but tracing makes them. Each is verified as `ascendopt create` does it.
    """
    own = build(PageOptions, given)
    found = bench_create(path, build(CreateBenchSettings, given), _say)
    if own.markdown is not None:
        replace_part(own.markdown, part(found), table(found))
    show_suite(found, table(found), as_json)
