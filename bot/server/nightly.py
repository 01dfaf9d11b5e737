"""The refresh of the bank in a job of the CI that has no token."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.base.git import Git
from bot.repository.commit_pack import PACK, read_pack
from bot.repository.mirror import clone
from bot.server.bank_learning import EMBEDDING, bank_command
from bot.server.plan_folder import REFRESH, Tip, work_folder
from bot.server.run_job import CHECKOUT
from bot.server.state_branch import BANK

# Without another limit, in s.
LONGEST_S: Final = 3600.0


def refresh_bank(plan: Path, tip: Tip, bank: Path, out: Path, seconds: float | None) -> str:
    """Go over `bank` with the default branch at `tip`, and leave `out`/bank.jsonl; its summary.

    Stopped after `seconds` it keeps what it has done: the bank is whole at every moment. Raises
    InputError when the plan does not hold the commit.
    """
    limit = LONGEST_S if seconds is None else seconds
    with work_folder() as work:
        repository = read_pack(plan / REFRESH / PACK, tip, work / "repository.git")
        clone(Git(repository), tip.source_commit, work / CHECKOUT)
        arguments = ("refresh", str(work / CHECKOUT), "--out", str(out / REFRESH))
        ended = bank_command(*arguments, bank=bank, seconds=limit, passed=EMBEDDING)
    bank_command("export", str(out / BANK), bank=bank)
    page = out / REFRESH / "refresh.md"
    if page.is_file():
        return page.read_text(encoding="utf-8")
    return f"The refresh: {ended.words[-1] if ended.words else 'It left no summary.'}\n"
