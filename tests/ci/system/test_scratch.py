"""Where short-lived folders lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.system.scratch import IN_MEMORY, scratch


def test_a_folder_is_gone_afterwards() -> None:
    with scratch("test") as name:
        assert Path(name).is_dir()
    assert not Path(name).exists()


def test_what_would_fill_the_memory_goes_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    with scratch("test", 1 << 60) as name:
        assert not Path(name).is_relative_to(IN_MEMORY)


def test_the_folder_that_the_user_asks_for_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with scratch("test") as name:
        assert Path(name).parent == tmp_path
