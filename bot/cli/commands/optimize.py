"""`ascendopt optimize`: the search, then the patch, the reports and the result in one folder."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console

from bot.cli.commands.workload import Steps
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.result import Result
from ci.model.settings import (
    ConditionOptions,
    EvaluationSetup,
    OptimizeSettings,
    PoolOptions,
    ProposerOptions,
    ScreenOptions,
)
from ci.session.derive import derived_for, without_workload
from ci.session.proposers import AGENT, REPLAY, strategy_options
from ci.session.session import open_session

StrategyOptions = strategy_options()

TRIALS = "trials.sqlite"
"""Name of the file with the trials, which a resumed run reads."""


EVERYDAY = (
    "workload",
    "backend",
    "device",
    "budget",
    "stage",
    "seed",
    "wall_minutes",
    "resume",
    "proposer",
    "out",
)


class OptimizeOptions(Frozen):
    """Experience bank and output folder of a search."""

    bank: Path | None = Field(
        default=None,
        description="Experience bank. Default: $XDG_DATA_HOME/ascendopt/bank.duckdb.",
    )
    out: Folder | None = Field(
        default=None, description="Output folder. Default: ascendopt-out/OPERATOR."
    )


@options(
    EvaluationSetup,
    PoolOptions,
    ScreenOptions,
    ConditionOptions,
    OptimizeSettings,
    StrategyOptions,
    ProposerOptions,
    OptimizeOptions,
    everyday=EVERYDAY,
)
@click.command()
@click.argument("operator", type=OrdinaryPath())
@json_option
@click.pass_context
def optimize(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Search for a faster OPERATOR; write a verified patch and a report.

    OPERATOR is the folder that holds op_host and op_kernel. Without a workload, one is derived
    first. The run writes best.patch, report.md, report.html, result.json and trials.sqlite. Ends
    with 1 when the operator itself does not pass its workload, or when a model became unavailable
    before anything better was found.
    """
    setup = build(EvaluationSetup, given)
    settings = build(OptimizeSettings, given)
    own = build(OptimizeOptions, given)
    derived = None
    if name := without_workload(operator, setup):
        out = own.out or Path("ascendopt-out") / name
        say(f"{name} has no workload: one is derived into {out / 'workload'}.", err=True)
        derived = derived_for(operator, setup, out / "workload", partial(Steps(), operator))
        setup = setup.model_copy(update={"workload": derived})
    session = open_session(
        operator,
        setup,
        conditions=build(ConditionOptions, given),
        pool=build(PoolOptions, given).pool,
        screen=build(ScreenOptions, given).screen,
    )
    out = own.out or Path("ascendopt-out") / session.operator.name

    from bot.base.language import language
    from bot.repository.language import checkout_language
    from bot.server.progress import progress_for
    from bot.server.run_folder import write_run

    proposing = build(ProposerOptions, given)
    agent = _agent(proposing, operator, setup, out, own.bank, settings.max_tokens)
    unit = "simulated time" if setup.backend == "sim" else "time"
    console = Console(stderr=True, force_terminal=False if as_json else None)
    with progress_for(console, session.operator.name, unit) as progress, resumable(out):
        found = session.optimize(
            settings,
            proposing,
            own.bank,
            out,
            progress,
            strategy=agent or build(StrategyOptions, given),
        )
    if derived is not None:
        settings_left = {k: v for k, v in found.settings.items() if k != "workload"}
        text = derived.read_text(encoding="utf-8")
        found = found.model_copy(update={"derived_workload": text, "settings": settings_left})
    with language(checkout_language(session.operator.repository)):
        result = write_run(found, session.operator, out)
    if as_json:
        say(result.model_dump_json(indent=2))
    else:
        _tell(result, out, session.operator.repository)
    found_some = result.verdict in ("improved", "unknown", "unverified")
    done = found_some or (result.verdict == "not_improved" and not result.stopped)
    ctx.exit(0 if done else 1)


def _agent(
    proposing: ProposerOptions,
    operator: Path,
    setup: EvaluationSetup,
    out: Path,
    bank: Path | None,
    tokens: int,
) -> Any:
    """What makes the strategy of `--proposer agent`, or of its replay; None for another run."""
    if not proposing.proposer.startswith((AGENT, REPLAY)):
        return None
    # It stands on the public names, which are built upon the command line's own layers.
    upon = importlib.import_module("ascendopt.agent.strategy")
    subject = importlib.import_module("ascendopt.api.operator").Operator(operator, setup)
    return upon.agent_strategy(proposing, subject, out, bank, tokens)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say how a run goes on that the user interrupts after it has left something."""
    try:
        yield
    except KeyboardInterrupt:
        if (out / TRIALS).exists():
            say(f"The trials are in {out}. Add --resume to go on.", err=True)
        raise


def _tell(result: Result, out: Path, repository: Path | None) -> None:
    """Print the headline, what decides whether to rely on it, the files and the next command."""
    from bot.base.text import visible
    from bot.report.facts import headline, mean_times
    from bot.report.uncertainty import range_line
    from bot.report.verification import unchecked, warnings

    say(headline(result))
    if result.verdict == "improved":
        for line in (mean_times(result), range_line(result), *warnings(result)):
            if line:
                say(f"  {visible(line, 400)}")
        if left := unchecked(result):
            say(f"  Not checked: {visible(' '.join(left), 400)}")
    if result.stopped:
        say(f"The run ended early: {visible(result.stopped)} Continue it with --resume.")
    for name in ("best.patch", "report.html", "report.md", "result.json"):
        if (out / name).exists():
            say(f"  {name:<12} {out / name}")
    if result.verdict == "improved":
        place = f" --repository {shlex.quote(str(repository))}" if repository is not None else ""
        say(f"Submit it with: ascendopt submit {shlex.quote(str(out))}{place}")
