"""`ascendopt ci`: the bot inside a forge's CI, in three steps that share no secrets."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console

from bot.base.secret import hide
from bot.cli.listing import Listing
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.forge.kinds import FORGES
from bot.repository.job import Job
from ci.model.errors import InputError
from ci.model.frozen import Frozen


class CiOptions(Frozen):
    """Where the bot in CI finds its repository."""

    forge: str = Field(
        default="auto",
        description=f"One of {', '.join(FORGES)}; auto: by what CI says of itself.",
    )
    repository: str = Field(
        default="",
        description="owner/name, or the bare repository of --forge local; as CI says when not"
        " given.",
    )
    dry_run: bool = Field(default=False, description="Write nothing to the forge; log it instead.")


class RunOptions(Frozen):
    """Options of the job that runs without a token."""

    repository: Path | None = Field(
        default=None,
        description="Git repository with the job's commits; the pack next to the job when not"
        " given.",
    )
    bank: Path | None = Field(
        default=None, description="Experience bank; that of the plan when not given, if it has one."
    )
    minutes: float = Field(
        default=0.0,
        ge=0,
        description="Wall time for all jobs together, in minutes: what the CI's own limit leaves."
        " No limit beyond each job's own when 0.",
    )
    models: Path | None = Field(default=None, description="Models for the proposer llm.")
    allow_unsandboxed: bool = Field(
        default=False,
        description="Run what merge requests bring where no sandbox closes files.",
    )


@click.group(cls=Listing)
def ci() -> None:
    """Run the bot inside CI jobs: plan, run, report, follow-up."""


@options(CiOptions)
@ci.command()
@click.option("--out", type=OrdinaryPath(), required=True, help="Folder of the plan.")
@json_option
def plan(out: Path, as_json: bool, **given: Any) -> None:
    """Read the CI event, check who asks for what, and write the jobs that follow.

    Answers comments itself. Ends with 0 when there is nothing to do.
    """
    from bot.events import EventError, from_ci
    from bot.server.ci_mode import plan_event
    from bot.server.connections import ci_connection

    chosen = build(CiOptions, given)
    try:
        event = from_ci(os.environ)
    except EventError as problem:
        raise InputError(str(problem)) from problem
    with ci_connection(chosen.forge, chosen.repository, event, dry_run=chosen.dry_run) as found:
        jobs = plan_event(event, found, out)
    _announce([j.key for j in jobs], [f"{j.operator} ({j.run})" for j in jobs], as_json)


@options(CiOptions)
@ci.command("follow-up")
@click.option("--out", type=OrdinaryPath(), required=True, help="Folder of the plan.")
@json_option
def follow_up(out: Path, as_json: bool, **given: Any) -> None:
    """Write the jobs that no event has begun.

    Finds what no job of the CI has handled and looks at the bot's open merge requests. Once a night
    it also refreshes the bank.
    """
    from bot.server.ci_mode import plan_follow_up
    from bot.server.connections import ci_connection
    from bot.server.plan_folder import tip_of

    chosen = build(CiOptions, given)
    with ci_connection(chosen.forge, chosen.repository, None, dry_run=chosen.dry_run) as found:
        jobs = plan_follow_up(found, out)
    words = [f"{j.operator} ({j.run})" for j in jobs]
    refresh = ["refresh"] if tip_of(out) else []
    _announce([*(j.key for j in jobs), *refresh], [*words, *refresh], as_json)


def _announce(keys: list[str], words: list[str], as_json: bool) -> None:
    """Say what is planned; in GitHub's or GitCode's Actions also as an output of the step."""
    output = os.environ.get("GITHUB_OUTPUT") or os.environ.get("ATOMGIT_OUTPUT", "")
    if output:
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"jobs={len(keys)}\n")
    if as_json:
        say(json.dumps({"jobs": keys}))
    elif keys:
        say("\n".join(f"To do: {line}" for line in words))
    else:
        say("Nothing to do.")


@options(RunOptions)
@ci.command()
@click.argument("plan", type=OrdinaryPath())
@click.option("--out", type=OrdinaryPath(), required=True, help="Folder of results.")
@json_option
@click.pass_context
def run(ctx: click.Context, /, plan: Path, out: Path, as_json: bool, **given: Any) -> None:
    """Run the jobs of PLAN, a plan folder or one job file. Needs no token and no network.

    Ends with 1 when a job left no result; the others are run all the same.
    """
    from bot.server.nightly import refresh_bank
    from bot.server.one_item import told
    from bot.server.plan_folder import bank_of, planned, tip_of
    from bot.server.run_job import read_job

    chosen = build(RunOptions, given)
    hide()  # keys of models are in its environment
    if plan.is_file():
        job = read_job(plan)
        jobs, verdicts = [job], {job.key: _run_one(job, plan.parent, out, out, chosen, chosen.bank)}
        problems: list[str] = []
    else:
        found = planned(plan)
        jobs = [job for job, _ in found]
        end = time.monotonic() + 60 * chosen.minutes if chosen.minutes else None
        with bank_of(plan) as own:
            verdicts, problems = _run_all(found, out, chosen, chosen.bank or own, end)
            tip = tip_of(plan)
            if tip is not None and own is not None:
                left = end and max(1.0, end - time.monotonic())
                try:
                    _show(refresh_bank(plan, tip, own, out, left))
                except Exception as problem:  # the verdicts are kept and said all the same
                    problems.append(f"The refresh of the bank failed: {told(problem)}")
    if as_json:
        say(json.dumps({"verdicts": verdicts, "problems": problems}, indent=2))
    else:
        for job in jobs:
            say(f"{job.operator}: {verdicts.get(job.key, 'no result')}")
        for line in problems:
            say(line, err=True)
    ctx.exit(1 if problems else 0)


def _run_all(
    jobs: Sequence[tuple[Job, Path]],
    out: Path,
    chosen: RunOptions,
    bank: Path | None,
    end: float | None,
) -> tuple[dict[str, str], list[str]]:
    """Run a plan's jobs, each whatever becomes of the others: verdicts, and what went wrong.

    `end`: when all are to be done, by the monotonic clock.
    """
    from bot.server.one_item import told
    from bot.server.plan_folder import work_folder

    verdicts, problems = dict[str, str](), list[str]()
    for number, (job, place) in enumerate(jobs):
        left = None if end is None else end - time.monotonic()
        limited = job.within(left, len(jobs) - number)
        try:
            with work_folder() as work:
                verdicts[job.key] = _run_one(limited, place, work, out / job.key, chosen, bank)
        except Exception as problem:  # of this job; its reason is left
            problems.append(f"{job.operator}: {told(problem)}")
    return verdicts, problems


def _show(page: str) -> None:
    """Print a summary, and put it on the page of the CI's run where the forge has one."""
    say(page, err=True)
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(page)


def _run_one(
    job: Job, place: Path, work: Path, out: Path, chosen: RunOptions, bank: Path | None
) -> str:
    """Run one job, whose commits lie in `place`, and leave its result or its reason in `out`.

    `work`: folder of its work trees.
    """
    from bot.server.plan_folder import repository_of
    from bot.server.run_create import run_create
    from bot.server.run_folder import leaving_reason
    from bot.server.run_job import run_job

    console = Console(stderr=True, force_terminal=False)
    if job.kind == "create":
        with leaving_reason(out):
            run_create(job, work, out, console, allow_unsandboxed=chosen.allow_unsandboxed)
        return "made"
    source = chosen.repository or repository_of(job, place, work)
    if job.kind == "measure":
        from bot.server.run_measure import run_measure

        with leaving_reason(out):
            return run_measure(job, source, work, out, allow_unsandboxed=chosen.allow_unsandboxed)
    if job.kind == "check":
        from bot.server.run_check import run_check

        with leaving_reason(out):
            return run_check(job, source, work, out, allow_unsandboxed=chosen.allow_unsandboxed)
    with leaving_reason(out):
        made = run_job(
            job,
            source,
            work,
            out,
            console,
            bank=bank,
            models=chosen.models,
            allow_unsandboxed=chosen.allow_unsandboxed,
        )
    return made.verdict


@options(CiOptions)
@ci.command()
@click.argument("plan", type=OrdinaryPath())
@click.option("--results", type=OrdinaryPath(), required=True, help="Folder that `run` wrote.")
@click.option(
    "--bank",
    type=OrdinaryPath(),
    help="JSON lines of `bank export` that the next runs are to know; none when there is no such"
    " file.",
)
@json_option
def report(plan: Path, results: Path, bank: Path | None, as_json: bool, **given: Any) -> None:
    """Turn the results of PLAN's jobs into merge requests, comments and checks.

    The branch ascendopt-state remembers them.
    """
    from bot.events.ci import ci_page
    from bot.server.ci_mode import report as tell
    from bot.server.connections import ci_connection
    from bot.server.plan_folder import planned

    chosen = build(CiOptions, given)
    jobs = [job for job, _ in planned(plan)]
    with ci_connection(chosen.forge, chosen.repository, None, dry_run=chosen.dry_run) as found:
        foreign = [j.key for j in jobs if (j.forge, j.repository) != (found.name, found.repository)]
        if foreign:
            raise InputError(f"{plan} holds jobs of another repository: {', '.join(foreign)}.")
        given_bank = bank if bank and bank.is_file() else None
        said = tell(found, jobs, results, given_bank, ci_page(os.environ))
    say(json.dumps(said) if as_json else "\n".join(said) or "Nothing to report.")
