"""`ascendopt bench screen`: device evaluations that a screening simulator spares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.options import OrdinaryPath, build, json_option, options, show_suite
from lab import session as lab
from lab.model.screen import ScreenBenchSettings
from lab.report.pool import spared


@options(ScreenBenchSettings)
@click.command()
@click.argument("operators", type=OrdinaryPath(), nargs=-1)
@json_option
def screen(operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Search with a device alone and with a simulator that screens for it, and compare.

    OPERATORS are folders of operators or repositories; a small shipped one when not given. The
    device is stood in for by the machine with other constants, which the screen does not know.
    """
    found = lab.bench_screen(
        operators, build(ScreenBenchSettings, given), lambda text: click.echo(text, err=True)
    )
    show_suite(found, spared(found), as_json)
