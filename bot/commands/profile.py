"""`ascendopt profile`: one trial with its timeline, per-pipe table and diagnosis."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.commands.evaluate import EvaluateOptions, announce, candidate_of, echo_trial
from bot.commands.options import Target, build, json_option, options
from bot.commands.session import find_proposer, open_session
from bot.report.text import visible
from ci.errors import InputError
from ci.proposer.base import Diagnosis
from ci.trial import Frozen, Measurement, Outcome, PipeTime, Trial

# Costly lines and waits that are shown; all of them are in the files.
SHOWN = 5


class ProfileOptions(Frozen):
    """Where the profile goes."""

    out: Path | None = Field(
        default=None,
        description="Folder for trace.json (Chrome trace) and pipes.csv (msprof's columns);"
        " ascendopt-out/OPERATOR-profile.",
    )


class Profile(Frozen):
    """What `profile --json` prints."""

    trial: Trial
    diagnosis: Diagnosis | None = None
    trace: str = ""
    table: str = ""


def _echo_pipes(pipes: PipeTime) -> None:
    """Busy and waiting pipes, costly lines and what automatic sync added, of one case."""
    total = max(1, pipes.total_cycles)
    for pipe, cycles in sorted(pipes.busy_cycles.items(), key=lambda item: -item[1]):
        if cycles > 0:
            bar = "#" * round(30 * cycles / total)
            click.echo(f"    {pipe:<7} {cycles:>12,.0f} cycles busy  {cycles / total:>4.0%}  {bar}")
    waits = sorted(pipes.wait_cycles.items(), key=lambda item: -item[1])
    for pair, cycles in waits[:SHOWN]:
        who, _, whom = pair.partition("<-")
        click.echo(f"    {who} waited {cycles:,.0f} cycles for {whom}")
    for file, line, cycles in pipes.hot_lines[:SHOWN]:
        click.echo(f"    {cycles:>12,.0f} cycles at {visible(file)}:{line}")
    click.echo(
        f"    unified buffer {pipes.ub_peak_bytes:,} bytes, read {pipes.gm_read_bytes:,} and"
        f" written {pipes.gm_write_bytes:,} bytes of global memory,"
        f" {pipes.inserted_waits:,} waits inserted by automatic sync,"
        f" bank conflicts {pipes.bank_conflict_cycles:,.0f} cycles,"
        f" slowest core {pipes.imbalance:.2f}x the mean"
    )


def _write(op_type: str, measurement: Measurement, timelines: Path, out: Path) -> tuple[Path, Path]:
    """Write trace and table; returns their paths."""
    from ci.profile import chrome_trace, msprof_csv, trace_events

    events = []
    for index, case in enumerate(measurement.cases):
        file = timelines / f"{index}.jsonl"
        if file.is_file():
            with file.open(encoding="utf-8") as lines:
                events += trace_events(index, case, lines)
    out.mkdir(parents=True, exist_ok=True)
    trace, table = out / "trace.json", out / "pipes.csv"
    trace.write_text(chrome_trace(events, measurement), encoding="utf-8")
    table.write_text(msprof_csv(op_type, measurement), encoding="utf-8")
    return trace, table


@options(Target, EvaluateOptions, ProfileOptions)
@click.command()
@click.argument("operator", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def profile(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Evaluate OPERATOR and show where its time goes.

    Leaves a Chrome trace of every instruction of core 0 and a table in msprof's columns, and says
    in words what bounds the kernel. Ends with 1 when the outcome is not ok.
    """
    own = build(ProfileOptions, given)
    if own.out is not None and own.out.exists() and not own.out.is_dir():
        raise InputError(f"--out {own.out} is a file; give a folder.")
    with tempfile.TemporaryDirectory(prefix="ascendopt-profile-") as folder:
        timelines = Path(folder)
        session = open_session(operator, build(Target, given), timelines=timelines)
        candidate = candidate_of(session.operator, build(EvaluateOptions, given).patch)
        announce(session.operator, len(session.workload.cases))
        trial = session.evaluator.evaluate(candidate, 0, profile=True)
        found = Profile(trial=trial)
        if trial.measurement is not None:
            out = own.out or Path("ascendopt-out") / f"{session.operator.name}-profile"
            trace, table = _write(session.operator.op_type, trial.measurement, timelines, out)
            diagnosis = find_proposer("rules").diagnose(session.operator, trial)
            found = Profile(trial=trial, diagnosis=diagnosis, trace=str(trace), table=str(table))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _echo(found)
    ctx.exit(0 if trial.outcome is Outcome.OK else 1)


def _echo(found: Profile) -> None:
    echo_trial(found.trial)
    if found.trial.measurement is None or found.diagnosis is None:
        return
    for case in found.trial.measurement.cases:
        click.echo(f"\n  {case.case}")
        _echo_pipes(case.pipes)
    click.echo(f"\nbottleneck: {visible(found.diagnosis.bottleneck)}")
    for reason in found.diagnosis.evidence:
        click.echo(f"  {visible(reason)}")
    click.echo(f"trace: {found.trace} (chrome://tracing or ui.perfetto.dev)")
    click.echo(f"table: {found.table}")
