"""`submit` as a person runs it, on a repository of the local forge."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.main import run
from bot.server.merge_request import body
from tests.bot.make import git, repository, result


def test_a_dry_run_prints_the_merge_request_that_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = repository(tmp_path)
    made = result(git(checkout, "rev-parse", "HEAD"))
    file = tmp_path / "result.json"
    file.write_text(made.model_dump_json())
    assert run(["submit", str(file), "--repository", str(checkout), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("A merge request would be opened; nothing was written.\n")
    assert body(made) in said
    assert run(["submit", str(file), "--repository", str(checkout)]) == 0
    assert "## " not in capsys.readouterr().out
