"""`ascendopt record`: the answers of a run with models as a file without anybody's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.frozen import Frozen


class RecordOptions(Frozen):
    """Where the recording goes."""

    out: Path = Field(description="File to write, such as examples/recordings/tril.jsonl.")


@options(RecordOptions)
@click.command()
@click.argument("run", type=OrdinaryPath(exists=True))
@click.argument("operator", type=OrdinaryPath())
@json_option
def record(run: Path, operator: Path, as_json: bool, **given: Any) -> None:
    """Write what models answered in RUN, to be replayed without a key.

    The recording quotes no line of OPERATOR: its edits name lines by position and hash. Play it
    with `ascendopt optimize OPERATOR --proposer replay:FILE` on the same sources.
    """
    from ci.session.recordings import record_run

    own = build(RecordOptions, given)
    count = record_run(run, operator, own.out)
    if as_json:
        say(json.dumps({"answers": count, "out": str(own.out)}))
    else:
        say(f"{amount(count, 'answer is', 'answers are')} in {own.out}.")
