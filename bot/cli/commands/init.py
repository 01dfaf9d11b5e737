"""`ascendopt init`: set a repository up for the bot in its forge's CI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bot.base.text import shell_word, visible
from bot.cli.commands.workload import say_row
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.setup.files import SetupFile
from bot.setup.setup import Setup, SetupOptions, for_agents, look, shown, write
from ci.model.amount import amount
from ci.model.layout import TOP, called
from ci.session.reading import Reading

_STATES = {
    "new": "written",
    "changed": "changed",
    "there": "is there already",
    "differs": "differs, left alone",
}
_MOST_SHOWN = 5
"""Operators that cannot be read, or that the bot passes over, which are named."""


@options(SetupOptions)
@click.command()
@click.argument("checkout", type=OrdinaryPath(exists=True, file_okay=False), default=Path())
@json_option
def init(checkout: Path, as_json: bool, **given: Any) -> None:
    """Set up the repository of CHECKOUT for the bot.

    Writes the CI file of its forge, .ascendopt.yml, and workloads where they are wanted. Says what
    it found and what is left to do on the forge, and ends with what the bot would have done for the
    last commits. Asks no forge and pushes nothing; can be repeated.
    """
    chosen = build(SetupOptions, given)
    if chosen.agent:
        _for_agents(checkout, chosen, as_json=as_json)
        return
    found = look(checkout, chosen, say_row)
    if not chosen.dry_run:
        write(checkout, found.files)
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    if chosen.dry_run:
        say(shown(checkout, found.files), nl=False)
    _tell(found, checkout, dry_run=chosen.dry_run)


def _for_agents(checkout: Path, chosen: SetupOptions, *, as_json: bool) -> None:
    """Place the skill and the MCP server; the bot is another matter."""
    files = for_agents(checkout, chosen)
    if not chosen.dry_run:
        write(checkout, files)
    if as_json:
        say("[" + ",".join(file.model_dump_json() for file in files) + "]")
        return
    if chosen.dry_run:
        say(shown(checkout, files), nl=False)
    say(f"In {visible(str(checkout.resolve()))}:")
    _tell_files(files, dry_run=chosen.dry_run)


def _tell_files(files: Sequence[SetupFile], *, dry_run: bool) -> None:
    for file in files:
        would = "would be " if dry_run and file.state in ("new", "changed") else ""
        say(f"  {file.path}: {would}{_STATES[file.state]}")


def _tell_reading(found: Reading, checkout: str) -> None:
    sync = ", ".join(f"{count} {word}" for word, count in sorted(found.auto_sync.items()))
    say(
        f"  {len(found.ours)} can be read and are for the 910B"
        + (f" (automatic synchronisation: {sync})" if sync else "")
        + f"; {len(found.others)} are for other chips only; {len(found.unread)} cannot be read."
    )
    for place, why in [*found.unread.items()][:_MOST_SHOWN]:
        say(f"    {visible(place, 80)}: {visible(why, 200)}")
    if len(found.unread) > _MOST_SHOWN:
        say(f"    and {len(found.unread) - _MOST_SHOWN} more")
    if found.left_out:
        say(f"  {visible(found.left_out, 600)}")
    if found.ours:
        say(f"  `ascendopt census {checkout}` says how far each of them gets.")


def _tell(found: Setup, checkout: Path, *, dry_run: bool) -> None:
    from bot.cli.commands.config import echo_decisions

    ready = len(found.watched) - len(found.without_workload)
    say(
        f"{found.repository} on {found.forge}, default branch {found.branch}:"
        f" {amount(len(found.operators), 'operator')}, {ready} with a workload."
    )
    _tell_reading(found.reading, shell_word(str(checkout)))
    folders = Counter(
        called(place) if place == TOP else f"{Path(place).parent.as_posix()}/*"
        for place in found.watched
    )
    which = ", ".join(f"{visible(f, 80)} ({count})" for f, count in sorted(folders.items()))
    say(
        f"  The bot optimizes {len(found.watched)} when they change{': ' if which else ''}{which}."
        f" One event starts at most {found.per_event} searches; the others wait for the next."
    )
    _tell_files(found.files, dry_run=dry_run)
    if found.source:
        say(f"The CI installs {found.source}.")
    place = "" if checkout == Path() else f" in {visible(str(checkout))}"
    say(f"Left to do{place}:")
    for number, sentence in enumerate(found.left, 1):
        say(f"  {number}. {sentence}")
    if not found.commits:
        return
    say(f"For the last {amount(found.commits, 'commit')} the bot would have done:")
    if found.decisions:
        echo_decisions(found.decisions)
    else:
        say("nothing: they touch no kernel or tiling source.")
