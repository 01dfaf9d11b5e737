"""`ascendopt workload`: workloads for operators that have none."""

from __future__ import annotations

import json
import signal
import textwrap
import time
from pathlib import Path
from typing import Any

import click

from bot.base.text import visible
from bot.cli.listing import Listing
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.report.derived import coverage_table
from ci.model.amount import amount
from ci.model.derived import DerivedRow, DeriveSettings
from ci.model.frozen import Frozen
from ci.model.settings import AscHeaders
from ci.session import derive as session


@click.group(cls=Listing)
def workload() -> None:
    """Derive workloads, begin one, or count the operators that have one."""


def say_row(row: DerivedRow, done: int, total: int) -> None:
    """Tell on stderr what became of one operator."""
    said = row.refused or (
        f"{amount(len(row.cases), 'case')}, {amount(row.variety, 'combination')} of dtypes"
        " and tiling key,"
        f" judged against the {row.reference}"
    )
    say(f"[{done:>3}/{total}] {row.category + '/' + row.name:<48} {visible(said, 160)}", err=True)


class Steps:
    """Tells on stderr what is done at the moment, and for how long an operator has been worked
    at."""

    def __init__(self) -> None:
        self._operator: Path | None = None
        self._started = 0.0

    def __call__(self, operator: Path, step: str) -> None:
        """Print a step; the operator's name before its first one."""
        if operator != self._operator:
            self._operator, self._started = operator, time.monotonic()
            say(f"{operator.name}:", err=True)
        seconds = time.monotonic() - self._started
        said = textwrap.shorten(visible(step, 1000), 100, placeholder=" …")
        say(f"  {seconds:>4.0f} s  {said}", err=True)


def stoppable() -> None:
    """Have the signal that `timeout` and CI send end the program as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


@options(DeriveSettings)
@workload.command()
@click.argument("operators", nargs=-1, required=True, type=OrdinaryPath())
@json_option
@click.pass_context
def derive(ctx: click.Context, /, operators: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Write a workload for each of OPERATORS, folders of operators or of whole repositories.

    Cases come from examples and tests of the operator, else from generic shapes; its host tiling
    says which it takes, and all of them were run as they are written. An operator that has a
    workload is passed over. When it is stopped, the operator at hand keeps the cases that passed
    until then. Ends with 1 when one operator is left without.
    """
    settings = build(DeriveSettings, given)
    stoppable()
    rows = session.derive_workloads(operators, settings, say_row, Steps())
    if as_json:
        say(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
    else:
        if not rows:
            say("Nothing to derive: each of the operators has a workload.")
            return
        made = sum(bool(row.cases) for row in rows)
        say(f"{made} of {amount(len(rows), 'operator has', 'operators have')} a derived workload.")
        for row in rows:
            for note in row.notes:
                say(f"  {row.name}: {visible(note, 300)}")
    ctx.exit(0 if all(row.cases for row in rows) else 1)


class FrameOptions(Frozen):
    """How the kernel of a frame is compiled."""

    asc_headers: AscHeaders = ""


@options(FrameOptions)
@workload.command()
@click.argument("kernel", type=OrdinaryPath())
@click.option("--entry", default="", metavar="NAME", help="The kernel, where KERNEL has several.")
@click.option(
    "--out",
    type=OrdinaryPath(),
    required=True,
    metavar="DIR",
    help="The folder that takes workload.yaml; it names the operator.",
)
@json_option
def frame(kernel: Path, entry: str, out: Path, as_json: bool, **given: Any) -> None:
    """Write the frame of a workload for a kernel that a program launches itself.

    KERNEL is its source. The frame holds the parameters of the kernel's entry. A program of the
    repository that launches it is run without a device, and fills them in; where none runs here,
    you do.
    """
    headers = build(FrameOptions, given).asc_headers
    file, is_open = session.write_frame(kernel, entry, out, headers)
    if as_json:
        say(json.dumps({"workload": str(file), "complete": not is_open}))
        return
    left = "; write what is marked TODO in it, then" if is_open else ". Now"
    say(f"Wrote {file}{left}: ascendopt evaluate {out}")


@workload.command()
@click.argument("folders", nargs=-1, required=True, type=OrdinaryPath())
@json_option
def coverage(folders: tuple[Path, ...], as_json: bool) -> None:
    """Count what `derive --out` has left in each of FOLDERS, as a table in Markdown."""
    counted = session.coverage(folders)
    if as_json:
        say(json.dumps([one.model_dump(mode="json") for one in counted], indent=2))
        return
    say(coverage_table(counted), nl=False)
