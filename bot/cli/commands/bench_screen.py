"""`ascendopt bench screen`: device evaluations that a screening simulator spares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bot.cli.options import build, json_option, options
from ci.model.bench.screen import ScreenBenchSettings
from ci.session import lab


@options(ScreenBenchSettings)
@click.command()
@click.argument("operators", type=click.Path(path_type=Path), nargs=-1)
@json_option
def screen(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Search with a device alone and with a simulator that screens for it, and compare.

    OPERATORS are folders of operators or repositories; a small shipped one when not given. The
    device is stood in for by the machine with other constants, which the screen does not know.
    """
    rows = lab.bench_screen(
        operators, build(ScreenBenchSettings, given), lambda text: click.echo(text, err=True)
    )
    if as_json:
        click.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
        return
    click.echo("device evaluations alone  screened  spared  speedup alone  screened  operator")
    for row in rows:
        click.echo(
            f"{row.alone:>24} {row.screened:>9} {row.spared:>7} {row.speedup_alone:>13.3f}x"
            f" {row.speedup_screened:>8.3f}x  {row.operator}"
        )
    alone, screened = (sum(getattr(r, name) for r in rows) for name in ("alone", "screened"))
    click.echo(f"The device made {screened} evaluations instead of {alone}.")
