"""`ascendopt bench pool`: how many evaluations the workers of a pool do side by side."""

from __future__ import annotations

import json
from typing import Any

import click

from bot.cli.options import build, json_option, options
from ci.model.bench.pool import PoolBenchSettings
from ci.session import lab


@options(PoolBenchSettings)
@click.command()
@json_option
def pool(as_json: bool, **given: Any) -> None:
    """Measure how many evaluations workers do side by side when each waits for a device.

    The evaluations sleep, so that what is left is the pool's own: handing out, waiting, answering.
    Without --pool on this host, with --pool ray:ADDRESS on as many workers of the cluster.
    """
    rows = lab.bench_pool(build(PoolBenchSettings, given), lambda text: click.echo(text, err=True))
    if as_json:
        click.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
        return
    click.echo("workers  evaluations  wall s  an hour  efficiency  start s")
    for row in rows:
        click.echo(
            f"{row.workers:>7} {row.evaluations:>12} {row.seconds:>7.1f} {row.an_hour:>8.0f}"
            f" {row.efficiency:>11.1%} {row.start_seconds:>8.1f}"
            + (f"  trials {row.trials}" if row.trials else "")
        )
