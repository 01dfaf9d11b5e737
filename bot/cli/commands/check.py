"""`ascendopt check`: the operators that changed files belong to, each evaluated once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.git import Git, GitError
from bot.cli.commands.evaluate import SarifOptions
from bot.cli.options import build, json_option, options
from bot.report.sarif import write_sarif
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import EvaluationSetup
from ci.model.trial import Candidate, Outcome, Trial
from ci.session import open_session


class CheckOptions(Frozen):
    """Which changes are checked."""

    since: str = Field(
        default="",
        description="Also the files that changed since this revision of git, such as origin/main.",
    )


class CheckedOperator(Frozen):
    """An operator and how its evaluation ended, or why it was not evaluated."""

    operator: Path
    trial: Trial | None = None
    note: str = Field(default="", description="Why there is no trial; '' where there is one.")

    def text(self) -> str:
        """One line for a person."""
        if self.trial is None:
            return f"{self.operator}: not checked: {self.note}"
        refusal = self.trial.refusal
        if refusal is None:
            return f"{self.operator}: ok"
        place = f" ({refusal.place.source})" if refusal.place.file else ""
        return f"{self.operator}: {self.trial.outcome.value}: {refusal.message}{place}"


@options(EvaluationSetup, CheckOptions, SarifOptions)
@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@json_option
@click.pass_context
def check(ctx: click.Context, /, files: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Evaluate each operator that FILES belong to: right, free of races, within its memory.

    For a pre-commit hook or a job of a CI. Ends with 1 when one of them is not ok. An operator
    that has no workload is named and not checked; `ascendopt workload derive` writes one.
    """
    since = build(CheckOptions, given).since
    changed = [*files, *(_changed_since(since) if since else ())]
    found = tuple(_checked(folder, build(EvaluationSetup, given)) for folder in owners(changed))
    if as_json:
        click.echo("[" + ",".join(one.model_dump_json() for one in found) + "]")
    else:
        click.echo("\n".join(one.text() for one in found) or "No operator changed.")
    if (file := build(SarifOptions, given).sarif) is not None:
        trials = [(one.operator, one.trial) for one in found if one.trial is not None]
        write_sarif(trials, Git(Path.cwd()).top() or Path.cwd(), file)
    bad = any(one.trial is not None and one.trial.outcome is not Outcome.OK for one in found)
    ctx.exit(1 if bad else 0)


def owners(files: Sequence[Path]) -> tuple[Path, ...]:
    """Return the operator folders that hold the files, each once, in the files' order."""
    found: dict[Path, None] = {}
    for file in files:
        for folder in file.parents:
            if (folder / "op_kernel").is_dir() and (folder / "op_host").is_dir():
                found[folder] = None
                break
    return tuple(found)


def _changed_since(revision: str) -> Iterator[Path]:
    here = Git(Path.cwd())
    top = here.top()
    if top is None:
        raise InputError("--since needs a checkout of git; call it in one.")
    try:
        names = here.diff("--name-only", "-z", "--end-of-options", revision, "--")
    except GitError as problem:
        raise InputError(f"--since {revision}: {problem}") from None
    for name in filter(None, names.split("\0")):
        yield top / name


def _checked(folder: Path, setup: EvaluationSetup) -> CheckedOperator:
    click.echo(f"Checking {folder}", err=True)
    try:
        trial = open_session(folder, setup).evaluate(Candidate())
    except InputError as problem:
        return CheckedOperator(operator=folder, note=str(problem))
    return CheckedOperator(operator=folder, trial=trial)
