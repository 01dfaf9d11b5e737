"""`ascendopt profile`: one trial with its timeline, per-pipe table and diagnosis."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.text import visible
from bot.cli.commands.evaluate import PatchOptions, announce, candidate_of, echo_trial
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.profile import Profile
from ci.model.settings import EvaluationSetup, UncertaintyOptions
from ci.model.trial import Outcome, PipeTime
from ci.session.session import open_session

# Costly lines and waits that are shown; all of them are in the files.
SHOWN = 3


class ProfileOptions(Frozen):
    """Where the profile goes."""

    out: Folder | None = Field(
        default=None,
        description="Folder for trace.json (Chrome trace) and msprof's tables of each case;"
        " ascendopt-out/OPERATOR-profile.",
    )


def _echo_pipes(pipes: PipeTime, operator: Operator) -> None:
    """Busy and waiting pipes, costly lines and what automatic sync added, of one case."""
    total = max(1, pipes.total_cycles)
    for pipe, cycles in sorted(pipes.busy_cycles.items(), key=lambda item: -item[1]):
        if cycles > 0:
            bar = "#" * round(30 * cycles / total)
            say(f"    {pipe:<7} {cycles:>12,.0f} cycles busy  {cycles / total:>4.0%}  {bar}")
    waits = sorted(pipes.wait_cycles.items(), key=lambda item: -item[1])
    for pair, cycles in waits[:SHOWN]:
        who, _, whom = pair.partition("<-")
        say(f"    {who} waited {cycles:,.0f} cycles for {whom}")
    for file, line, cycles in pipes.hot_lines[:SHOWN]:
        words = visible(_source_line(operator, file, line), 70)
        say(f"    {cycles:>12,.0f} cycles at {visible(file)}:{line}  {words}")
    say(
        f"    unified buffer {amount(pipes.ub_peak_bytes, 'byte')}, read"
        f" {pipes.gm_read_bytes:,} and"
        f" written {amount(pipes.gm_write_bytes, 'byte')} of global memory,"
        f" {pipes.inserted_waits:,} waits inserted by automatic sync,"
        f" bank conflicts {pipes.bank_conflict_cycles:,.0f} cycles,"
        f" slowest core {pipes.imbalance:.2f}x the mean"
    )


def _source_line(operator: Operator, file: str, line: int) -> str:
    """The text of one of the operator's own lines, '' for any other file."""
    if file not in (*operator.kernel_sources, *operator.host_sources):
        return ""
    lines = operator.read(file).split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


@options(EvaluationSetup, UncertaintyOptions, PatchOptions, ProfileOptions)
@click.command()
@click.argument("operator", type=OrdinaryPath())
@json_option
@click.pass_context
def profile(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Evaluate OPERATOR and show where its time goes.

    Leaves a Chrome trace of every core's pipes and the tables of `msprof op`, and says in words
    what bounds the kernel. Ends with 1 when the outcome is not ok.
    """
    own = build(ProfileOptions, given)
    with tempfile.TemporaryDirectory(prefix="ascendopt-profile-") as folder:
        setup = build(EvaluationSetup, given)
        wide = build(UncertaintyOptions, given)
        session = open_session(operator, setup, timelines=Path(folder), conditions=wide)
        candidate = candidate_of(session.operator, build(PatchOptions, given).patch)
        announce(session.operator, len(session.workload.cases))
        out = own.out or Path("ascendopt-out") / f"{session.operator.name}-profile"
        found = session.profile(candidate, out, widened=wide.given())
    if as_json:
        say(found.model_dump_json(indent=2))
    else:
        _echo(found, session.operator)
    ctx.exit(0 if found.trial.outcome is Outcome.OK else 1)


def _echo(found: Profile, operator: Operator) -> None:
    echo_trial(found.trial)
    if found.trial.measurement is None or found.diagnosis is None:
        return
    roofs = {one.case: one for one in found.rooflines}
    for case in found.trial.measurement.cases:
        say(f"\n  {case.case}")
        _echo_pipes(case.pipes, operator)
        if case.case in roofs:
            say(f"    {roofs[case.case].sentence()}")
    say(f"\nbottleneck: {visible(found.diagnosis.bottleneck)}")
    for reason in found.diagnosis.evidence:
        say(f"  {visible(reason)}")
    say(f"trace: {found.trace} (chrome://tracing or ui.perfetto.dev)")
    for table in found.tables:
        say(f"table: {table}")
