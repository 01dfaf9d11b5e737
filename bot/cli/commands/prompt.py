"""`ascendopt prompt`: what a model would be sent for an operator, and how long it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.commands.bank_keep import BankOptions
from bot.cli.commands.evaluate import announce, echo_trial
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.settings import EvaluationSetup
from ci.session.session import open_session


@options(EvaluationSetup, BankOptions)
@click.command()
@click.argument("operator", type=OrdinaryPath())
@json_option
@click.pass_context
def prompt(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Evaluate OPERATOR and print the prompt of a first step.

    Nothing is sent. Says on stderr how long the prompt is, and how much of it stays the same from
    step to step. Ends with 1 when the original operator does not pass its workload.
    """
    session = open_session(operator, build(EvaluationSetup, given))
    announce(session.operator, len(session.workload.cases))
    found = session.prompt(build(BankOptions, given).bank)
    if found.trial.measurement is None:
        echo_trial(found.trial)
        ctx.exit(1)
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    say(f"{found.system}\n\n{found.user}")
    say(
        f"About {amount(found.tokens, 'token')}; the first {found.stable:.0%} stay as they"
        " are from step"
        " to step.",
        err=True,
    )
