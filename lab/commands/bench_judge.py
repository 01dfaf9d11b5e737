"""`ascendopt bench judge`: the judge against a corpus of wrong and of honest candidates."""

from __future__ import annotations

from typing import Any

import click

from bot.cli.options import PageOptions, build, json_option, options, show_suite
from bot.report.page import replace_part
from lab import session as lab
from lab.model.judge import JudgeBenchSettings
from lab.report.judge import tables


@options(JudgeBenchSettings, PageOptions)
@click.command()
@json_option
@click.pass_context
def judge(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Judge a corpus of candidates, wrong on purpose or honest, as `optimize` does.

    Ends with 1 when a wrong one is accepted, when more than 1 % of the honest are refused, or when
    a candidate could not be judged.
    """
    settings = build(JudgeBenchSettings, given)
    own = build(PageOptions, given)

    def tell(text: str) -> None:
        click.echo(text, err=True)

    if settings.mutate:
        lab.write_mutants(settings, tell)
        return
    found = lab.bench_judge(settings, tell)
    if own.markdown is not None:
        replace_part(own.markdown, "judge", tables(found))
    show_suite(found, tables(found, rows=False), as_json)
    ctx.exit(0 if found.holds else 1)
