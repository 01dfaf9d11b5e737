"""`ascendopt config`: check a repository's configuration, print its schema, try it on a change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.git import Git, GitError
from bot.base.text import visible
from bot.cli.listing import Listing
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.repository.config import FILE, RepositoryConfig, config_problems, parse_config
from bot.repository.settings import BotSettings
from bot.repository.simulation import Decision, default_branch, default_commit, simulated
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.layout import called
from ci.model.regular_file import file_bytes
from ci.model.yaml_model import model_problems


class SimulateOptions(Frozen):
    """The change that is simulated."""

    base: str = Field(
        default="",
        description="Commit that brings configuration and workloads; the default branch of the"
        " remote when not given.",
    )
    head: str = Field(default="HEAD", description="Branch or commit with the change.")
    remote: str = Field(default="origin", description="Remote whose default branch counts.")


@click.group(cls=Listing)
def config() -> None:
    """Check .ascendopt.yml, or say what the bot would do for a change."""


@config.command()
@click.argument("file", type=OrdinaryPath(), default=Path(FILE))
@click.option("--settings", is_flag=True, help="FILE is the settings of `serve` and `watch`.")
@json_option
@click.pass_context
def validate(ctx: click.Context, /, file: Path, settings: bool, as_json: bool) -> None:
    """Say every mistake in FILE with its line and key. Ends with 1 when there is one."""
    if not file.exists():
        raise InputError(f"There is no file {file}; `ascendopt init` writes .ascendopt.yml.")
    text = file_bytes(file)
    problems = (
        model_problems(BotSettings, text, file.name)
        if settings
        else config_problems(text, file.name)
    )
    if as_json:
        say(json.dumps({"file": str(file), "problems": problems}, indent=2))
    else:
        say("\n".join(problems) or f"{file} is good.")
    ctx.exit(1 if problems else 0)


@config.command()
@click.option("--settings", is_flag=True, help="The schema of the settings of `serve`.")
@json_option
def schema(settings: bool, as_json: bool) -> None:
    """Print the JSON schema, for editors."""
    model: type[Frozen] = BotSettings if settings else RepositoryConfig
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    say(json.dumps(made, indent=None if as_json else 2))


@options(SimulateOptions)
@config.command()
@click.argument("repository", type=OrdinaryPath(exists=True, file_okay=False), default=Path())
@json_option
def simulate(repository: Path, as_json: bool, **given: Any) -> None:
    """Say what the bot would do for the change between two commits of a checkout, and why.

    Reads only; runs nothing and asks no forge.
    """
    chosen = build(SimulateOptions, given)
    git = Git(repository)
    base = chosen.base or default_branch(git, chosen.remote)
    judge = git.commit(base) if chosen.base else default_commit(git, base, chosen.remote)
    head = git.commit(chosen.head)
    for name, commit in ((base, judge), (chosen.head, head)):
        if commit is None:
            raise InputError(f"{repository} has no commit {name}.")
    assert judge is not None and head is not None
    try:
        fork = git.run("merge-base", judge, head).strip()
    except GitError:
        raise InputError(
            f"{base} and {chosen.head} have no commit in common here. Is the clone shallow? Then:"
            " git fetch --unshallow"
        ) from None
    rows = simulated(git, judge, fork, head, parse_config(git.show(judge, FILE)))
    if as_json:
        operators = [row.model_dump() for row in rows]
        say(json.dumps({"base": judge, "head": head, "operators": operators}, indent=2))
    elif not rows:
        say("The change touches no kernel or tiling source: the bot does nothing.")
    else:
        echo_decisions(rows)


def echo_decisions(rows: Sequence[Decision]) -> None:
    """Print what the bot would do with each operator, and why."""
    for row in rows:
        say(f"{called(row.operator)}: {row.decision}")
        say(f"  because of {', '.join(visible(p) for p in row.because[:5])}")
