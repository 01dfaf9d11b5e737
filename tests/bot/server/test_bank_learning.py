"""Commands on the bank are our own, whatever lies in the folder that the bot was started in."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.server.bank_learning import bank_command
from experience.bank.bank import Bank


def test_a_repository_with_a_package_of_our_name_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = tmp_path / "bank.duckdb"
    Bank(bank).stats()
    hostile = tmp_path / "checkout" / "ascendopt"
    hostile.mkdir(parents=True)
    (hostile / "__init__.py").touch()
    (hostile / "__main__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(hostile.parent)
    ended = bank_command("stats", bank=bank)
    assert ended.code == 0
    assert not (tmp_path / "ran").exists()
