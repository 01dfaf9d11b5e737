"""A copy of what the bot remembers, made while it runs: put back, it goes on from there.

queue.sqlite                            jobs, events, what people said no to
runs/KEY/{job.json,result.json}         results that are still to be proposed
bank.jsonl                              the experience, for `ascendopt bank import`

Mirrors, work trees and reports are left out: they are fetched or made again.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from bot.repository.settings import BotSettings
from bot.server.bank_learning import bank_command
from bot.server.queue import Queue
from bot.server.run_job import JOB_FILE, result_file
from bot.server.state_branch import BANK
from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem, InputError

QUEUE: Final = "queue.sqlite"


def back_up(settings: BotSettings, out: Path) -> list[str]:
    """Copy the memory of the bot that `settings` describe into the new folder `out`; what is in it.

    Raises InputError when there is nothing to copy or `out` is there already, EnvironmentProblem
    when the bank cannot be exported; what was copied by then stays.
    """
    file = settings.data / QUEUE
    if not file.is_file():
        raise InputError(f"There is no {file}: no bot has run with these settings.")
    if out.exists():
        raise InputError(f"{out} exists already; a backup takes a folder of its own.")
    out.mkdir(parents=True)
    with (
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as live,
        closing(sqlite3.connect(out / QUEUE)) as copy,
    ):
        try:
            live.backup(copy)
        except sqlite3.DatabaseError as problem:
            raise InputError(f"{file} cannot be read: {problem}.") from problem
    lines, kept = [f"{QUEUE}: {amount(_rows(out / QUEUE), 'job')}"], 0
    for record in Queue(out / QUEUE).jobs(states=("waiting", "delivering"), limit=1_000_000):
        left = settings.data / "runs" / record.job.key
        for found in (left / JOB_FILE, result_file(left)):
            if found.is_file():
                (out / "runs" / left.name).mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, out / "runs" / left.name)
        kept += 1
    lines.append(f"runs: {amount(kept, 'result')} that are still to be proposed")
    if settings.bank_file.is_file():
        ended = bank_command("export", str(out / BANK), bank=settings.bank_file)
        if ended.code != 0:
            raise EnvironmentProblem(f"The bank was not copied: {' '.join(ended.words)}")
        lines.append(f"{BANK}: the experience")
    return lines


def _rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        (count,) = db.execute("SELECT count(*) FROM jobs").fetchone()
    return int(count)
