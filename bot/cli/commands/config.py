"""`ascendopt config`: check a repository's configuration, print its schema, try it on a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.git import Git
from bot.base.text import visible
from bot.cli.options import build, json_option, options
from bot.repository.config import FILE, RepositoryConfig, config_problems, parse_config
from bot.repository.mirror import Commit, workload_of
from bot.repository.settings import BotSettings
from bot.repository.trigger import touched_operators
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.yaml_model import model_problems
from rules.triggers import load_triggers


class SimulateOptions(Frozen):
    """What is tried."""

    base: str = Field(default="main", description="Default branch: configuration and workloads.")
    head: str = Field(default="HEAD", description="Branch or commit with the change.")


@click.group()
def config() -> None:
    """Check .ascendopt.yml, print its schema, and see what the bot would do for a change."""


@config.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path(FILE))
@click.option("--settings", is_flag=True, help="FILE is the settings of `serve` and `watch`.")
@json_option
@click.pass_context
def validate(ctx: click.Context, /, file: Path, settings: bool, as_json: bool) -> None:
    """Say every mistake in FILE with its line and key. Ends with 1 when there is one."""
    if not file.is_file():
        raise InputError(f"There is no file {file}.")
    text = file.read_bytes()
    problems = (
        model_problems(BotSettings, text, file.name)
        if settings
        else config_problems(text, file.name)
    )
    if as_json:
        click.echo(json.dumps({"file": str(file), "problems": problems}, indent=2))
    else:
        click.echo("\n".join(problems) or f"{file} is good.")
    ctx.exit(1 if problems else 0)


@config.command()
@click.option("--settings", is_flag=True, help="The schema of the settings of `serve`.")
@json_option
def schema(settings: bool, as_json: bool) -> None:
    """Print the JSON schema, for editors."""
    model: type[Frozen] = BotSettings if settings else RepositoryConfig
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    click.echo(json.dumps(made, indent=None if as_json else 2))


@options(SimulateOptions)
@config.command()
@click.argument(
    "repository", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path()
)
@json_option
def simulate(repository: Path, as_json: bool, **given: Any) -> None:
    """Say what the bot would do for the change between two commits of a checkout, and why.

    Reads only; runs nothing and asks no forge.
    """
    chosen = build(SimulateOptions, given)
    git = Git(repository)
    base, head = git.commit(chosen.base), git.commit(chosen.head)
    for name, commit in ((chosen.base, base), (chosen.head, head)):
        if commit is None:
            raise InputError(f"{repository} has no commit {name}.")
    assert base is not None and head is not None
    rows = simulated(git, base, head)
    if as_json:
        click.echo(json.dumps({"base": base, "head": head, "operators": rows}, indent=2))
    elif not rows:
        click.echo("The change touches no kernel or tiling source: the bot does nothing.")
    else:
        for row in rows:
            click.echo(f"{row['operator']}: {row['decision']}")
            click.echo(f"  because of {', '.join(visible(p) for p in row['because'][:5])}")


def simulated(git: Git, base: str, head: str) -> list[dict[str, Any]]:
    """One row an operator that the change concerns: what the bot would do with it."""
    settings = parse_config(git.show(base, FILE))
    fork = git.run("merge-base", base, head).strip()
    listed = git.run("diff", "--name-only", "-z", "--no-renames", fork, head).split("\0")
    judge, tested = Commit(git, base), Commit(git, head)
    found = touched_operators(
        [p for p in listed if p], tested.operators, tested.texts, load_triggers()
    )
    rows = []
    for one in found:
        override = settings.override(one.folder)
        workload = workload_of(judge, one.folder, override.workload, settings.workloads)
        if not settings.covers(one.folder):
            decision = f"left alone: {FILE} says so"
        elif workload is None:
            decision = f"left alone: no workload at {base[:12]}; add {one.folder}/workload.yaml"
        else:
            budget = settings.granted(one.folder, None)
            decision = (
                f"optimized with {budget} evaluations on {settings.backend} {settings.target},"
                f" judged by {workload}"
            )
        rows.append(
            {
                "operator": one.folder,
                "decision": decision,
                "kernel": one.kernel,
                "tiling": one.tiling,
                "because": list(one.because),
            }
        )
    return rows
