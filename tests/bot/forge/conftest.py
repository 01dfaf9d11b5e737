from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.forge.base import Forge
from bot.forge.model import Access
from tests.bot.forge.server.base import ForgeServer
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


@pytest.fixture
def server(request: pytest.FixtureRequest, checkout: Path, tmp_path: Path) -> Iterator[ForgeServer]:
    """In the words of the forge that the module is about."""
    made: ForgeServer = request.module.SERVER(tmp_path / "origin.git", request.module.TOKENS)
    yield made
    made.stop()


@pytest.fixture
def token(request: pytest.FixtureRequest) -> str:
    """The bot's, which a module names first; the second is alice's."""
    return str(next(iter(request.module.TOKENS)))


@pytest.fixture
def forge(request: pytest.FixtureRequest, server: ForgeServer, token: str) -> Forge:
    made: Forge = request.module.connected(server, token)
    return made


@pytest.fixture
def person(request: pytest.FixtureRequest, server: ForgeServer) -> Forge:
    made: Forge = request.module.connected(server, list(request.module.TOKENS)[1])
    return made


@pytest.fixture
def grant(server: ForgeServer) -> Callable[[str, Access], object]:
    return server.forge().set_permission
