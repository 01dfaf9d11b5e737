"""`ascendopt bench sanitizers`: the share of dropped ordering statements that the machine finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console
from rich.markdown import Markdown

from bot.commands.bench_machine import chosen_operators
from bot.commands.options import build, json_option, options
from bot.report.text import code, plain
from ci.bench.sanitizers import SanitizerBench, SanitizerBenchSettings, measure
from ci.trial import Frozen


class SanitizerOptions(Frozen):
    """Where the page goes."""

    markdown: Path | None = Field(default=None, description="File that takes the tables.")


@options(SanitizerBenchSettings, SanitizerOptions)
@click.command()
@click.argument("operators", type=click.Path(path_type=Path), nargs=-1)
@json_option
def sanitizers(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Drop each flag, barrier and queue operation of OPERATORS in turn; say which are missed.

    OPERATORS are folders of operators or repositories; the shipped ones when none is given.
    """
    settings = build(SanitizerBenchSettings, given)
    own = build(SanitizerOptions, given)
    chosen = chosen_operators(operators)
    found = measure(chosen, settings, lambda text: click.echo(text, err=True))
    if own.markdown is not None:
        own.markdown.write_text(tables(found), encoding="utf-8")
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        Console().print(Markdown(tables(found)))


def tables(found: SanitizerBench) -> str:
    """The figures, then every mutant that was not found."""
    lines = [
        f"{found.built} mutants of {len({m.operator for m in found.mutants})} operators were built:"
        f" {found.count('found')} found, {found.count('put back')} put back by automatic"
        f" synchronisation, {found.count('not found')} not found. Of those that nothing puts back,"
        f" {found.share:.1%} are found.",
        "",
    ]
    outcomes: dict[str, int] = {}
    for mutant in found.mutants:
        if mutant.verdict == "found":
            outcomes[mutant.outcome] = outcomes.get(mutant.outcome, 0) + 1
    if outcomes:
        lines += ["| found as | mutants |", "|---|---:|"]
        lines += [f"| {name} | {n} |" for name, n in sorted(outcomes.items())]
    missed = [m for m in found.mutants if m.verdict == "not found"]
    if missed:
        lines += ["", "| not found | at | dropped |", "|---|---|---|"]
        lines += [
            f"| {plain(m.operator)} | {code(f'{m.file}:{m.line}')} | {code(m.dropped, 80)} |"
            for m in missed
        ]
    if found.unusable:
        lines += ["", "Left out, because they do not pass as they stand:", ""]
        lines += [f"- {plain(words, 200)}" for words in found.unusable]
    return "\n".join(lines) + "\n"
