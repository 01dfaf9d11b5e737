"""`ascendopt ci`: the bot inside a forge's CI, in three steps that share no secrets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console

from bot.base.secret import hide
from bot.cli.options import build, json_option, options
from bot.forge.kinds import FORGES
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
    """What the run without a token works with."""

    repository: Path | None = Field(
        default=None,
        description="Git repository with the job's commits; the pack beside the job when not"
        " given.",
    )
    bank: Path | None = Field(default=None, description="Experience bank.")
    models: Path | None = Field(default=None, description="Models for the proposer llm.")
    allow_unsandboxed: bool = Field(
        default=False,
        description="Run what merge requests bring where no sandbox closes files.",
    )


@click.group()
def ci() -> None:
    """Run the bot inside a CI job: plan (with a token), run (without), report (with)."""


@options(CiOptions)
@ci.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the plan.")
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
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the plan.")
@json_option
def follow_up(out: Path, as_json: bool, **given: Any) -> None:
    """Look at the bot's open merge requests; write jobs for those whose base moved."""
    from bot.server.ci_mode import plan_follow_up
    from bot.server.connections import ci_connection

    chosen = build(CiOptions, given)
    with ci_connection(chosen.forge, chosen.repository, None, dry_run=chosen.dry_run) as found:
        jobs = plan_follow_up(found, out)
    words = [f"{j.operator} (merge request {j.patch_of})" for j in jobs]
    _announce([j.key for j in jobs], words, as_json)


def _announce(keys: list[str], words: list[str], as_json: bool) -> None:
    """Say what is planned; in GitHub's or GitCode's Actions also as an output of the step."""
    output = os.environ.get("GITHUB_OUTPUT") or os.environ.get("ATOMGIT_OUTPUT", "")
    if output:
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"jobs={len(keys)}\n")
    if as_json:
        click.echo(json.dumps({"jobs": keys}))
    elif keys:
        click.echo("\n".join(f"To do: {line}" for line in words))
    else:
        click.echo("Nothing to do.")


@options(RunOptions)
@ci.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of results.")
@json_option
@click.pass_context
def run(ctx: click.Context, /, plan: Path, out: Path, as_json: bool, **given: Any) -> None:
    """Run the jobs of PLAN, a plan folder or one job file. Needs no token and no network.

    Ends with 1 when a job left no result; the others are run all the same.
    """
    from bot.server.ci_mode import planned, repository_of
    from bot.server.run_folder import leaving_reason
    from bot.server.run_job import read_job, run_job

    chosen = build(RunOptions, given)
    hide()  # keys of models are in its environment
    single = plan.is_file()
    jobs = [(read_job(plan), plan.parent)] if single else planned(plan)
    console = Console(stderr=True, force_terminal=False)
    verdicts, problems = {}, []
    for job, place in jobs:
        folder = out if single else out / job.key
        try:
            source = chosen.repository or repository_of(job, place, folder)
            with leaving_reason(folder):
                result = run_job(
                    job,
                    source,
                    folder,
                    console,
                    bank=chosen.bank,
                    models=chosen.models,
                    allow_unsandboxed=chosen.allow_unsandboxed,
                )
        except InputError as problem:
            if single:
                raise
            problems.append(f"{job.operator}: {problem}")
            continue
        verdicts[job.key] = result.verdict
    if as_json:
        click.echo(json.dumps({"verdicts": verdicts, "problems": problems}, indent=2))
    else:
        for job, _ in jobs:
            click.echo(f"{job.operator}: {verdicts.get(job.key, 'no result')}")
        for line in problems:
            click.echo(line, err=True)
    ctx.exit(1 if problems else 0)


@options(CiOptions)
@ci.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--results", type=click.Path(path_type=Path), required=True, help="Folder that `run` wrote."
)
@json_option
def report(plan: Path, results: Path, as_json: bool, **given: Any) -> None:
    """Turn the results of PLAN's jobs into merge requests, comments and checks."""
    from bot.server.ci_mode import planned
    from bot.server.ci_mode import report as tell
    from bot.server.connections import ci_connection

    chosen = build(CiOptions, given)
    jobs = [job for job, _ in planned(plan)]
    with ci_connection(chosen.forge, chosen.repository, None, dry_run=chosen.dry_run) as found:
        foreign = [j.key for j in jobs if (j.forge, j.repository) != (found.name, found.repository)]
        if foreign:
            raise InputError(f"{plan} holds jobs of another repository: {', '.join(foreign)}.")
        said = tell(found, jobs, results)
    click.echo(json.dumps(said) if as_json else "\n".join(said) or "Nothing to report.")
