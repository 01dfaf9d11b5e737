"""`ascendopt census`: how far each operator of a repository gets, and what stops it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import Field
from rich.console import Console

from bot.base.text import visible
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.report.census import census_markdown, missing, names, other_chips_words, sync_words, table
from ci.model.amount import amount
from ci.model.census import ROWS, STAGE_WORDS, CensusRow, CensusSettings
from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.session.census import census as take_census


class CensusOutput(Frozen):
    """Where the census goes."""

    out: Folder = Field(
        default=Path("census"),
        description="Folder for census.jsonl (kept as it grows, resumed from), census.json and"
        " census.md.",
    )


def _say(row: CensusRow, done: int, total: int) -> None:
    error = row.failures[0] if row.failures else None
    why = f"  {error.reason}: {error.message}" if error else ""
    say(
        f"[{done:>3}/{total}] {row.path:<48} {row.judged or '-':<9}{visible(why, 110)}",
        err=True,
    )


@options(CensusSettings, CensusOutput)
@click.command()
@click.argument("repository", type=OrdinaryPath())
@json_option
def census(repository: Path, as_json: bool, **given: Any) -> None:
    """Try every operator of REPOSITORY: read, build, tile, run, verify.

    Each operator runs in the sandbox with limits; a bad one never stops the others. What an
    operator lacks is named and counted. A census that was stopped goes on where it was.
    """
    settings, own = build(CensusSettings, given), build(CensusOutput, given)
    rows, summary = take_census(repository, settings, own.out, _say)
    title = repository.resolve().name
    data = {
        "repository": title,
        "summary": summary.model_dump(mode="json"),
        "rows": [row.model_dump(mode="json") for row in rows],
    }
    (own.out / "census.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (own.out / "census.md").write_text(census_markdown(title, rows, summary), encoding="utf-8")
    if as_json:
        say(json.dumps(data, indent=2))
        return
    console = Console(soft_wrap=True)
    console.print(table(summary))
    if summary.auto_sync:
        say(f"\nAutomatic synchronisation on the 910B: {sync_words(summary)}.")
    if words := other_chips_words(summary):
        say(f"\n{words}")
    reasons = missing(summary, 12)
    if reasons:
        say("\nWhat is missing (an operator counts for the first thing that stops it):")
    for reason in reasons:
        say(
            f"{len(reason.operators):>5}  {visible(reason.reason, 60):<44} "
            f"{STAGE_WORDS[reason.stage]:<20} {names(reason)}"
        )
    if summary.left_out:
        say(f"\n{visible(summary.left_out, 600)}")
    if len(summary.versions) > 1:
        say(
            f"\nThe rows come from {amount(len(summary.versions), 'version')} of the simulator;"
            " --again all tries every operator with this one."
        )
    say(f"\n{own.out / ROWS}, census.json and census.md hold all of it.")
