"""`ascendopt doctor`: what this machine has, and the command that mends what it lacks."""

from __future__ import annotations

import click

from bot.commands.options import json_option
from bot.doctor import examine


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, as_json: bool) -> None:
    """Say what this machine has (compiler, toolkit, sandbox, NPU) and what follows.

    Ends with 1 when something is missing that the simulator cannot do without.
    """
    report = examine()
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    else:
        for check in report.checks:
            mark = {"found": "ok     ", "missing": "MISSING", "absent": "absent "}[check.state]
            click.echo(f"{mark}  {check.name}: {check.finding}")
            if check.mend:
                click.echo(f"         mend: {check.mend}")
        click.echo()
        for sentence in report.follows:
            click.echo(sentence)
    ctx.exit(0 if report.ready else 1)
