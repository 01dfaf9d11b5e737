from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bot.make import git, repository


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once by git, then copied: a checkout `ops` and a bare `origin.git` beside it."""
    folder = tmp_path_factory.mktemp("forge")
    made = repository(folder)
    git(made, "checkout", "-q", "-b", "work")
    (made / "README.md").write_text("changed\n")
    git(made, "commit", "-q", "-am", "Change")
    git(made, "push", "-q", "origin", "work")
    git(made, "remote", "set-url", "origin", "../origin.git")
    return folder


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    """A checkout with a bare `origin`; branch work is one commit ahead of main."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path / "ops"


@pytest.fixture
def merge(checkout: Path) -> Callable[[str], object]:
    return lambda branch: git(checkout, "push", "-q", "origin", f"{branch}:main")


@pytest.fixture
def delete(checkout: Path) -> Callable[[str], object]:
    return lambda branch: git(checkout, "push", "-q", "origin", "--delete", branch)


@pytest.fixture
def restore(checkout: Path) -> Callable[[str], object]:
    return lambda branch: git(checkout, "push", "-q", "origin", branch)
