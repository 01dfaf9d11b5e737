"""The bank of the bot: its commands as processes without tokens, and what merged runs teach it."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.base.git import Git, GitError
from bot.base.text import visible
from bot.repository.job import Job
from bot.repository.mirror import clone
from bot.server.run_job import CHECKOUT
from bot.server.state_branch import BANK, checked_bank
from ci.model.environment import passed_on
from ci.model.errors import InputError

LOG: Final = logging.getLogger("ascendopt.bot")
# What one of the short commands takes at most, in s.
SHORT_S: Final = 300.0
# What an embedding endpoint is asked with, where the CI's own job may have it.
EMBEDDING: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
# Of a command that failed the end says why; what is before tells how far it came.
_LAST_LINES: Final = 20
# How a command ends that was given what it cannot use: trying again does not help.
_BAD_INPUT: Final = 2


@dataclass(frozen=True)
class Ended:
    """How a command of the bank ended."""

    code: int | None
    """None when it was stopped."""
    words: tuple[str, ...]
    """The last lines that it said of what went wrong."""

    @property
    def is_final(self) -> bool:
        """Whether the same command again would end the same way."""
        return self.code in (0, _BAD_INPUT)


def bank_command(
    *arguments: str, bank: Path, seconds: float = SHORT_S, passed: Sequence[str] = ()
) -> Ended:
    """Run `ascendopt bank ARGUMENTS --bank BANK` without tokens, for at most `seconds`.

    `passed`: further variables of the environment that it may have, such as a model's key.
    """
    command = [sys.executable, "-P", "-m", "ascendopt", "bank", *arguments, "--bank", str(bank)]
    env = passed_on(passed)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(None, (f"It was stopped after {seconds:.0f} s.",))
    said = done.stderr.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]
    if not said and done.returncode:
        said = [f"It ended with code {done.returncode}."]
    return Ended(done.returncode, tuple(visible(line, 500) for line in said))


def learn(
    job: Job, result: Path, checkout: Path, bank: Path, *, passed: Sequence[str] = ()
) -> bool:
    """Add to `bank` what a run taught that a person merged; whether that is done with.

    `checkout` has the job's repository, before the change or after it.
    """
    operator = checkout / job.operator
    if not result.is_file():
        return True
    origin = f"{job.forge} {job.repository}"
    flags = ("--from-result", "--operator", str(operator), "--origin", origin)
    ended = bank_command("import", str(result), *flags, bank=bank, passed=passed)
    if ended.code != 0:
        LOG.warning("nothing learnt from run %s: %s", job.run, " ".join(ended.words))
    return ended.is_final


def learnt(job: Job, result: Path, git: Git, commit: str, lines: str) -> str | None:
    """The bank `lines` (JSON lines) with what a merged run taught, as far as it taught anything;
    None when it is to be tried again. `commit` of `git` is before the change or after it."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-bank-") as folder:
        place = Path(folder)
        given, left, bank = place / "given.jsonl", place / BANK, place / "bank.duckdb"
        try:
            clone(git, commit, place / CHECKOUT)
        except GitError as problem:
            LOG.warning("nothing learnt from run %s: %s", job.run, problem)
            return lines
        if lines:
            given.write_text(lines, encoding="utf-8")
            ended = bank_command("import", str(given), bank=bank)
            if ended.code != 0:
                LOG.warning("nothing learnt from run %s: %s", job.run, " ".join(ended.words))
                return lines if ended.is_final else None
        if not learn(job, result, place / CHECKOUT, bank):
            return None
        ended = bank_command("export", str(left), bank=bank)
        try:
            return checked_bank(left) if ended.code == 0 else None
        except InputError as problem:
            LOG.warning("nothing learnt from run %s: %s", job.run, problem)
            return lines
