from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.forge import ForgeSettings, open_forge
from bot.forge.base import Forge
from bot.forge.gitlab_words import access, comment, message
from bot.forge.model import Access, Status
from tests.bot.forge.contract_http import HttpForgeContract
from tests.bot.forge.server.gitlab import GitLabServer

TOKENS = {"glpat-secret": "ascendopt", "glpat-alice": "alice"}


@pytest.fixture
def server(checkout: Path, tmp_path: Path) -> Iterator[GitLabServer]:
    made = GitLabServer(tmp_path / "origin.git", TOKENS)
    yield made
    made.stop()


@pytest.fixture
def token() -> str:
    return "glpat-secret"


def connected(server: GitLabServer, token: str) -> Forge:
    settings = ForgeSettings(forge="gitlab", repository="team/ops", url=server.url)
    return open_forge(settings, token)


@pytest.fixture
def forge(server: GitLabServer, token: str) -> Forge:
    return connected(server, token)


@pytest.fixture
def person(server: GitLabServer) -> Forge:
    return connected(server, "glpat-alice")


@pytest.fixture
def grant(server: GitLabServer) -> Callable[[str, Access], object]:
    return server.forge().set_permission


class TestGitLab(HttpForgeContract):
    pass


def test_saying_pending_again_is_no_error(forge: Forge) -> None:
    commit = forge.branches()["work"]
    for _ in range(2):
        forge.set_status(commit, Status(context="verify", state="pending"))
    assert [s.state for s in forge.statuses(commit)] == ["pending"]


def test_the_rate_limit_is_what_the_last_answer_said(forge: Forge) -> None:
    assert forge.rate_limit() is None
    forge.branches()
    limit = forge.rate_limit()
    assert limit is not None
    assert (limit.limit, limit.remaining) == (600, 599)


@pytest.mark.parametrize(
    ("level", "expected"),
    [(0, "none"), (5, "none"), (10, "read"), (20, "read"), (30, "write"), (40, "admin")],
)
def test_access_levels_in_our_words(level: int, expected: str) -> None:
    assert access(level) == expected


@pytest.mark.parametrize(
    ("username", "bot"),
    [("project_12_bot_af3c", True), ("group_7_bot", True), ("project_bot", False), ("al", False)],
)
def test_accounts_of_access_tokens_are_bots(username: str, bot: bool) -> None:
    note = {
        "id": 1,
        "body": "x",
        "author": {"username": username},
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    assert comment(note, 1, "ascendopt").author_is_bot is bot


def test_errors_by_field_become_one_sentence() -> None:
    data = {"message": {"source_branch": ["is missing"], "title": ["is too long"]}}
    assert message(data) == "source_branch is missing; title is too long"
