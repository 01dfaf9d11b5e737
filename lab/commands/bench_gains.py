"""`ascendopt bench gains`: what `optimize` proposes for many operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.base.text import visible
from bot.cli.options import OrdinaryPath, build, json_option, options, show_suite
from lab import session as lab
from lab.model.gains import GainRow, GainsSettings
from lab.report.gains import table


def _say(row: GainRow) -> None:
    said = visible(row.said, 200) or f"{row.verdict}, {row.speedup:.3f}x cold, {row.low:.3f}x least"
    click.echo(f"{row.operator:<40} {said}", err=True)


@options(GainsSettings)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
@json_option
def gains(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Optimize OPERATORS, at real sizes too, and say what would be proposed for each.

    OPERATORS are folders of operators or repositories; with --repository its operators too, and the
    shipped ones when neither is given. Each run is `ascendopt optimize` with rules, in a folder
    below --out that holds its workload, trials and report, so that any of them can be made again.
    No operator meets what was learnt from it. May be stopped and run again; it goes on where it
    was.
    """
    settings = build(GainsSettings, given)
    found = lab.bench_gains(operators, settings, _say)
    text = table(found)
    (settings.out / "gains.md").write_text(text, encoding="utf-8")
    show_suite(found, text, as_json)
