from __future__ import annotations

from pathlib import Path

import pytest

from bot.repository.settings import checkout_settings
from ci.model.errors import InputError
from tests.bot.make import git, repository


def test_a_checkout_is_watched_where_its_origin_is(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    git(checkout, "remote", "set-url", "origin", "../origin.git")
    local = checkout_settings(checkout / "src", tmp_path / "home")
    assert Path(local.repositories[0].repository).resolve() == tmp_path / "origin.git"
    git(checkout, "remote", "set-url", "origin", "git@github.com:team/ops.git")
    hub = checkout_settings(checkout, tmp_path / "home")
    assert (hub.repositories[0].forge, hub.repositories[0].repository) == ("github", "team/ops")
    assert hub.data.parent == tmp_path / "home" and hub.data != local.data
    assert checkout_settings(checkout, tmp_path / "home") == hub


def test_what_is_no_checkout_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a file of settings nor a git checkout"):
        checkout_settings(tmp_path, tmp_path)


def test_a_checkout_without_an_origin_says_how_to_add_one(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    git(checkout, "remote", "remove", "origin")
    with pytest.raises(InputError, match="git remote add origin ADDRESS"):
        checkout_settings(checkout, tmp_path / "home")
