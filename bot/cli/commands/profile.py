"""`ascendopt profile`: one trial with its timeline, per-pipe table and diagnosis."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.text import visible
from bot.cli.commands.evaluate import EvaluateOptions, announce, candidate_of, echo_trial
from bot.cli.commands.options import build, json_option, options
from ci.judge.roofline import Roofline, roofline
from ci.model.diagnosis import Diagnosis
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.settings import Target
from ci.model.trial import Measurement, Outcome, PipeTime, Trial
from ci.session import find_proposer, open_session
from rules.devices import load_device

# Costly lines and waits that are shown; all of them are in the files.
SHOWN = 3
# Cores that a launch can have in the trace; the next case's processes are numbered after them.
CORES = 10_000


class ProfileOptions(Frozen):
    """Where the profile goes."""

    out: Path | None = Field(
        default=None,
        description="Folder for trace.json (Chrome trace) and msprof's tables of each case;"
        " ascendopt-out/OPERATOR-profile.",
    )


class Profile(Frozen):
    """What `profile --json` prints."""

    trial: Trial
    diagnosis: Diagnosis | None = None
    rooflines: tuple[Roofline, ...] = ()
    trace: str = ""
    tables: tuple[str, ...] = ()


def _echo_pipes(pipes: PipeTime, operator: Operator) -> None:
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
        words = visible(_source_line(operator, file, line), 70)
        click.echo(f"    {cycles:>12,.0f} cycles at {visible(file)}:{line}  {words}")
    click.echo(
        f"    unified buffer {pipes.ub_peak_bytes:,} bytes, read {pipes.gm_read_bytes:,} and"
        f" written {pipes.gm_write_bytes:,} bytes of global memory,"
        f" {pipes.inserted_waits:,} waits inserted by automatic sync,"
        f" bank conflicts {pipes.bank_conflict_cycles:,.0f} cycles,"
        f" slowest core {pipes.imbalance:.2f}x the mean"
    )


def _source_line(operator: Operator, file: str, line: int) -> str:
    """The text of one of the operator's own lines, '' for any other file."""
    if file not in (*operator.kernel_sources, *operator.host_sources):
        return ""
    lines = operator.read(file).splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _write(
    name: str, measurement: Measurement, timelines: Path, out: Path
) -> tuple[Path, tuple[Path, ...]]:
    """Write the trace, and msprof's tables of each case; returns their paths."""
    from ci.judge.msprof import kernel_kind, op_basic_info, pipe_utilization, resource_conflict
    from ci.judge.profile import chrome_trace, trace_events
    from ci.judge.timeline import read_timeline

    events, tables = [], []
    out.mkdir(parents=True, exist_ok=True)
    for index, case in enumerate(measurement.cases):
        file = timelines / f"{index}.jsonl"
        if not file.is_file():
            continue
        with file.open(encoding="utf-8") as lines:
            timeline = read_timeline(lines)
        events += trace_events(index * CORES, case, timeline)
        clock = case.pipes.total_cycles / max(case.median_us, 1e-9)
        folder = out / re.sub(r"[^A-Za-z0-9_.-]", "_", case.case).lstrip(".")
        folder.mkdir(exist_ok=True)
        for title, text in (
            ("PipeUtilization.csv", pipe_utilization(timeline, clock)),
            ("ResourceConflictRatio.csv", resource_conflict(timeline, clock)),
            ("OpBasicInfo.csv", op_basic_info(name, kernel_kind(timeline), case, clock)),
        ):
            (folder / title).write_text(text, encoding="utf-8")
            tables.append(folder / title)
    trace = out / "trace.json"
    trace.write_text(chrome_trace(events, measurement), encoding="utf-8")
    return trace, tuple(tables)


@options(Target, EvaluateOptions, ProfileOptions)
@click.command()
@click.argument("operator", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def profile(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Evaluate OPERATOR and show where its time goes.

    Leaves a Chrome trace of every core's pipes and the tables of `msprof op`, and says in words
    what bounds the kernel. Ends with 1 when the outcome is not ok.
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
            trace, tables = _write(session.operator.name, trial.measurement, timelines, out)
            found = Profile(
                trial=trial,
                diagnosis=find_proposer("rules").diagnose(session.operator, trial),
                rooflines=_rooflines(trial.measurement),
                trace=str(trace),
                tables=tuple(str(table) for table in tables),
            )
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _echo(found, session.operator)
    ctx.exit(0 if trial.outcome is Outcome.OK else 1)


def _rooflines(measurement: Measurement) -> tuple[Roofline, ...]:
    """Of each case, where the chip's peaks are known."""
    try:
        device = load_device(measurement.fingerprint.device)
    except InputError:
        return ()
    return tuple(roofline(case, device) for case in measurement.cases)


def _echo(found: Profile, operator: Operator) -> None:
    echo_trial(found.trial)
    if found.trial.measurement is None or found.diagnosis is None:
        return
    roofs = {one.case: one for one in found.rooflines}
    for case in found.trial.measurement.cases:
        click.echo(f"\n  {case.case}")
        _echo_pipes(case.pipes, operator)
        if case.case in roofs:
            click.echo(f"    {roofs[case.case].sentence()}")
    click.echo(f"\nbottleneck: {visible(found.diagnosis.bottleneck)}")
    for reason in found.diagnosis.evidence:
        click.echo(f"  {visible(reason)}")
    click.echo(f"trace: {found.trace} (chrome://tracing or ui.perfetto.dev)")
    for table in found.tables:
        click.echo(f"table: {table}")
