"""`ascendopt bench retrieval`: what a search of a large bank takes."""

from __future__ import annotations

from typing import Any

import click

from bot.cli.options import build, json_option, options
from lab import session as lab
from lab.model.retrieval import LIMIT_MS, RetrievalSettings


@options(RetrievalSettings)
@click.command()
@json_option
@click.pass_context
def retrieval(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Measure retrieval over a large bank that is made up from the shipped tuples.

    Ends with 1 when a search takes longer than 100 ms.
    """
    found = lab.bench_retrieval(build(RetrievalSettings, given))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        click.echo(f"{found.tuples} tuples, medians:")
        for words, value in (
            ("a search in a running process", found.warm_ms),
            ("the first search of a process", found.fresh_ms),
            ("the first search after the bank changed", found.build_ms),
            ("similarities alone, by DuckDB", found.database_ms),
        ):
            click.echo(f"{value:>8.1f} ms  {words}")
    ctx.exit(0 if max(found.warm_ms, found.fresh_ms) <= LIMIT_MS else 1)
