from __future__ import annotations

from pathlib import Path

import pytest

from bot.forge.base import Forge, ForgeError
from bot.forge.github import GitHubForge
from bot.forge.model import Status
from bot.testing.forge import LONG_AGO
from tests.bot.forge.contract_http import HttpForgeContract
from tests.bot.forge.server.github import GitHubServer
from tests.bot.make import git

SERVER = GitHubServer
TOKENS = {
    "ghp_secret": "ascendopt",
    "ghp_alice": "alice",
    "ghs_app": "helper[bot]",
}


def connected(server: GitHubServer, token: str, **more: str) -> GitHubForge:
    return GitHubForge("team/ops", token, api=server.url, between_writes_s=0, **more)


class TestGitHub(HttpForgeContract):
    pass


class TestGitHubAsAnApp(HttpForgeContract):
    """Check runs in place of commit statuses; the App is told its own name."""

    @pytest.fixture
    def token(self) -> str:
        return "ghs_app"

    @pytest.fixture
    def forge(self, server: GitHubServer, token: str) -> Forge:
        server.forge().set_permission("helper[bot]", "write")
        return connected(server, token, account="helper[bot]")


def test_a_token_of_actions_knows_its_name(
    server: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    with pytest.raises(ForgeError, match="who the token belongs to"):
        connected(server, "ghs_app").viewer()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert connected(server, "ghs_app").viewer() == "github-actions[bot]"


def test_a_check_run_carries_its_summary_and_is_changed_in_place(server: GitHubServer) -> None:
    forge = connected(server, "ghs_app", account="helper[bot]")
    commit = forge.branches()["work"]
    forge.set_status(commit, Status(context="verify", state="pending"))
    done = Status(
        context="verify",
        state="neutral",
        description="nothing faster",
        target_url="https://example.org/run",
        summary="| case | time |",
    )
    forge.set_status(commit, done)
    assert forge.statuses(commit) == [done]
    assert len(server.runs) == 1


def test_a_commit_status_says_neutral_as_success(forge: Forge) -> None:
    commit = forge.branches()["work"]
    forge.set_status(commit, Status(context="verify", state="neutral", description="x" * 200))
    (found,) = forge.statuses(commit)
    assert found.state == "success"
    assert len(found.description) == 140


def test_a_file_above_a_megabyte_is_read_whole(
    server: GitHubServer, forge: Forge, checkout: Path
) -> None:
    content = bytes(range(256)) * 5000
    (checkout / "big.bin").write_bytes(content)
    git(checkout, "add", "big.bin")
    git(checkout, "commit", "-q", "-m", "Big")
    git(checkout, "push", "-q", "origin", "work")
    assert forge.file("big.bin", "work") == content


def test_the_rate_limit_is_what_the_last_answer_said(forge: Forge) -> None:
    assert forge.rate_limit() is None
    forge.branches()
    limit = forge.rate_limit()
    assert limit is not None
    assert (limit.limit, limit.remaining) == (5000, 4990)


def test_a_comment_in_an_issue_of_a_repository_called_pull_is_on_no_request(
    server: GitHubServer, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = forge.open("one", "", "work", "main").number
    server.forge("alice").comment(number, "/optimize")
    assert len(forge.recent_comments(LONG_AGO).comments) == 1
    page = {"html_url": f"{server.url}/team/pull/issues/5#issuecomment-1"}
    remark = server.remark
    monkeypatch.setattr(server, "remark", lambda c: remark(c) | page)
    assert forge.recent_comments(LONG_AGO).comments == ()


def test_many_comments_are_polled_page_by_page(server: GitHubServer, forge: Forge) -> None:
    number = forge.open("one", "", "work", "main").number
    alice = server.forge("alice")
    for place in range(130):
        alice.comment(number, str(place))
    found = forge.recent_comments(LONG_AGO).comments
    assert [int(c.body) for c in found] == list(range(130))
