"""`ascendopt bench pool`: how many evaluations the workers of a pool do side by side."""

from __future__ import annotations

from typing import Any

import click

from bot.cli.options import build, json_option, options, show_suite
from lab import session as lab
from lab.model.pool import PoolBenchSettings
from lab.report.pool import workers


@options(PoolBenchSettings)
@click.command()
@json_option
def pool(as_json: bool, **given: Any) -> None:
    """Measure how many evaluations workers do side by side when each waits for a device.

    The evaluations sleep, so that what is left is the pool's own: handing out, waiting, answering.
    Without --pool on this host, with --pool ray:ADDRESS on as many workers of the cluster.
    """
    found = lab.bench_pool(build(PoolBenchSettings, given), lambda text: click.echo(text, err=True))
    show_suite(found, workers(found), as_json)
