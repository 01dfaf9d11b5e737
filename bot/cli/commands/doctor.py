"""`ascendopt doctor`: what this machine has, and the command that fixes what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.doctor import examine
from bot.cli.options import build, json_option, options
from bot.cli.say import say
from ci.model.frozen import Frozen
from ci.model.settings import AscHeaders


class DoctorOptions(Frozen):
    """Things that are examined next to the machine."""

    models: Path | None = Field(
        default=None,
        description="YAML file of the models of --proposer llm; $ASCENDOPT_LLM_MODELS when not"
        " given.",
    )
    check_models: bool = Field(
        default=False,
        description="Send each configured model one tiny request; else nothing is sent.",
    )
    asc_headers: AscHeaders = ""


@options(DoctorOptions)
@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Say what this machine has, what is missing, and what follows.

    It looks at compiler, toolkit, sandbox, NPU and models. Ends with 1 when something is missing
    that the simulator cannot do without.
    """
    own = build(DoctorOptions, given)
    report = examine(own.models, check_models=own.check_models, asc_headers=own.asc_headers)
    if as_json:
        say(report.model_dump_json(indent=2))
    else:
        for check in report.checks:
            mark = {"found": "ok     ", "missing": "MISSING", "absent": "absent "}[check.state]
            say(f"{mark}  {check.name}: {check.finding}")
            if check.mend:
                say(f"         fix: {check.mend}")
        say()
        for sentence in report.follows:
            say(sentence)
    ctx.exit(0 if report.ready else 1)
