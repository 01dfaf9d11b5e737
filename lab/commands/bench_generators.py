"""`ascendopt bench generators`: the answers of a generator, judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.base.text import visible
from bot.cli.options import OrdinaryPath, PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from lab.model.generators import AnswerRow, GeneratorsSettings
from lab.report.generators import table
from lab.session import bench_generators


def _say(row: AnswerRow) -> None:
    said = "right" if row.right else f"{row.outcome}: {row.said}"
    click.echo(f"{row.category + '/' + row.task:<48} {visible(said, 200)}", err=True)


@options(GeneratorsSettings, PageOptions)
@click.command()
@click.argument("path", type=OrdinaryPath())
@json_option
def generators(path: Path, as_json: bool, **given: Any) -> None:
    """Judge the answers of a generator to the tasks at PATH: a checkout of MultiKernelBench.

    An answer is judged as an operator that somebody else wrote: what candidates may not contain is
    refused, it is built and run on the task's case, and on varied ones. Sizes are halved until they
    can be simulated, so an answer must take its sizes from its inputs.
    """
    own = build(PageOptions, given)
    found = bench_generators(path, build(GeneratorsSettings, given), _say)
    if own.markdown is not None:
        replace_part(own.markdown, "generators", table(found))
    show_suite(found, table(found), as_json)
