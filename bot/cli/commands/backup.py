"""`ascendopt backup`: a copy of what a served bot remembers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bot.cli.options import OrdinaryPath, json_option
from bot.cli.say import say
from bot.repository.settings import read_settings


@click.command()
@click.argument("settings", type=OrdinaryPath())
@click.option("--out", type=OrdinaryPath(), required=True, help="New folder that takes the copy.")
@json_option
def backup(settings: Path, out: Path, as_json: bool) -> None:
    """Copy the memory of the bot of SETTINGS.

    That is its queue, the results to be proposed, and its experience. The bot may run meanwhile. To
    go on from a copy, stop the bot, put queue.sqlite and runs into a new data folder, and import
    bank.jsonl with `ascendopt bank import`.
    """
    from bot.server.backup import back_up

    lines = back_up(read_settings(settings), out)
    say(json.dumps({"folder": str(out), "parts": lines}) if as_json else "\n".join(lines))
