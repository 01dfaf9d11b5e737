"""`ascendopt bench judge`: the judge against a corpus of wrong and of honest candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console
from rich.markdown import Markdown

from bot.cli.options import build, json_option, options
from bot.report.judge import tables, update_page
from ci.model.bench.judge import JudgeBenchSettings
from ci.model.frozen import Frozen
from ci.session import lab


class JudgeOptions(Frozen):
    """Where the page goes."""

    markdown: Path | None = Field(
        default=None, description="File whose measured part is written anew (docs/security.md)."
    )


@options(JudgeBenchSettings, JudgeOptions)
@click.command()
@json_option
@click.pass_context
def judge(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Judge a corpus of candidates, wrong on purpose or honest, as `optimize` does.

    Ends with 1 when a wrong one is accepted, when more than 1 % of the honest are refused, or when
    a candidate could not be judged.
    """
    settings = build(JudgeBenchSettings, given)
    own = build(JudgeOptions, given)

    def tell(text: str) -> None:
        click.echo(text, err=True)

    if settings.mutate:
        lab.write_mutants(settings, tell)
        return
    found = lab.bench_judge(settings, tell)
    if own.markdown is not None:
        update_page(own.markdown, found)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        Console().print(Markdown(tables(found, rows=False)))
    ctx.exit(0 if found.holds else 1)
