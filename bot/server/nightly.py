"""The refresh of the bank in a job of the CI that has no token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from bot.base.git import Git
from bot.base.text import visible
from bot.repository.commit_pack import PACK, read_pack
from bot.repository.mirror import clone
from bot.server.plan_folder import REFRESH, Tip, leave_results
from bot.server.run_job import CHECKOUT
from bot.server.state_branch import BANK

# Without another limit, in s.
LONGEST_S: Final = 3600.0
# What writing the bank down takes at most, in s.
_EXPORT_S: Final = 120.0


def refresh_bank(plan: Path, tip: Tip, bank: Path, out: Path, seconds: float | None) -> str:
    """Go over `bank` with the default branch at `tip`, and leave `out`/bank.jsonl; its summary.

    Stopped after `seconds` it keeps what it has done: the bank is whole at every moment. Raises
    InputError when the plan does not hold the commit.
    """
    folder = out / REFRESH
    repository = read_pack(plan / REFRESH / PACK, tip, folder / "repository.git")
    clone(Git(repository), tip.source_commit, folder / CHECKOUT)
    words = _ascendopt(
        *("refresh", str(folder / CHECKOUT), "--bank", str(bank), "--out", str(folder)),
        seconds=LONGEST_S if seconds is None else seconds,
    )
    leave_results(folder)
    _ascendopt("export", str(out / BANK), "--bank", str(bank), seconds=_EXPORT_S)
    page = folder / "refresh.md"
    return page.read_text(encoding="utf-8") if page.is_file() else f"The refresh: {words}\n"


def _ascendopt(*words: str, seconds: float) -> str:
    """Run a command of the bank; its last words when it fails."""
    command = [sys.executable, "-m", "ascendopt", "bank", *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return f"It was stopped after {seconds:.0f} s."
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return visible(said[-1], 500) if said else f"It ended with code {done.returncode}."
