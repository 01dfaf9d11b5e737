"""`ascendopt bench statistics`: how often the verdicts on a device that scatters are wrong."""

from __future__ import annotations

import json
from typing import Any

import click

from bot.cli.options import build, json_option, options
from lab import session as lab
from lab.model.noise import NoiseSettings


@options(NoiseSettings)
@click.command()
@json_option
@click.pass_context
def statistics(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Hold the verdicts on pairs of samples against simulated noise.

    For each kind of noise and each true gain: the share of experiments that call the candidate
    faster, and the pairs that they take. Ends with 1 when more than 1 % of the experiments call an
    equal or slower candidate faster, fewer than 95 % find a gain of 5 %, or stopping early spares
    less than half of the pairs of those that are no gain.
    """
    rows = lab.bench_statistics(build(NoiseSettings, given))
    if as_json:
        click.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
    else:
        click.echo(f"{rows[0].trials} experiments a row, at most {rows[0].most_pairs} pairs each")
        click.echo("true gain   faster  not faster  unknown   pairs  spared  noise")
        for row in rows:
            unknown = 1 - row.faster - row.not_faster
            click.echo(
                f"{row.gain:>+9.0%} {row.faster:>8.2%} {row.not_faster:>11.2%} {unknown:>8.2%}"
                f" {row.pairs:>7.1f} {row.spared:>7.0%}  {row.noise}"
                + ("" if row.holds else "  MISSED")
            )
    ctx.exit(0 if all(row.holds for row in rows) else 1)
