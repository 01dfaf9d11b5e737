from __future__ import annotations

import gitcode_api
import pytest

from bot.forge.base import Forge
from bot.forge.gitcode import GitCodeForge
from bot.forge.gitcode_words import access, comment_id, file_diff
from bot.forge.github_words import merge_request
from bot.forge.limiter import Limiter
from bot.forge.model import Status
from tests.bot.forge.contract_http import HttpForgeContract
from tests.bot.forge.server.gitcode import GitCodeServer

SERVER = GitCodeServer
TOKENS = {"gc-secret": "ascendopt", "gc-alice": "alice"}


def connected(server: GitCodeServer, token: str) -> Forge:
    """It does not wait where GitCode would count fifty requests a minute."""
    unhurried = Limiter(1_000_000, 60.0)
    api = f"{server.url}/api/v5"
    return GitCodeForge("team/ops", token, url=server.url, api=api, limiter=unhurried)


@pytest.mark.parametrize(
    ("source", "repo", "fork"),
    [
        (7, None, False),
        ("7", None, False),
        (8, None, True),
        (8, {"full_name": "team/ops"}, True),
        (None, None, True),
        (None, {"full_name": "Team/Ops"}, False),
        (None, {"full_name": "alice/ops"}, True),
    ],
)
def test_whether_it_is_a_fork_is_said_by_numbers_or_else_by_names(
    source: int | str | None, repo: object, fork: bool
) -> None:
    found = {
        "number": "3",
        "title": "t",
        "state": "open",
        "source_branch": "optimize/x/1",
        "head": {"repo": repo},
        "source_project_id": source,
        "target_project_id": 7,
        "html_url": "https://gitcode.com/team/ops/merge_requests/3",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    assert merge_request(found, "team/ops", "refs/merge-requests/{}/head").from_fork is fork


class TestGitCode(HttpForgeContract):
    """All but statuses, which GitCode has not."""

    def test_a_status_replaces_the_one_of_its_context(self, forge: Forge) -> None:
        commit = forge.branches()["work"]
        forge.set_status(commit, Status(context="verify", state="pending"))
        assert list(forge.statuses(commit)) == []

    def test_a_status_of_an_unknown_commit_is_refused(self, forge: Forge) -> None:
        forge.set_status("0" * 40, Status(context="verify", state="success"))


def test_the_fifty_first_request_of_a_minute_waits() -> None:
    now, slept = [1000.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    limiter = Limiter(50, 60.0, clock=lambda: now[0], sleep=sleep)
    for _ in range(50):
        limiter.take()
        now[0] += 0.1
    assert slept == []
    assert limiter.left() == 0
    limiter.take()
    assert slept == [pytest.approx(55.0)]
    assert limiter.left() == 0
    now[0] += 60
    assert limiter.left() == 50


def test_the_forge_counts_its_own_requests(server: GitCodeServer, token: str) -> None:
    forge = GitCodeForge("team/ops", token, url=server.url, api=f"{server.url}/api/v5")
    before = forge.rate_limit()
    forge.branches()
    after = forge.rate_limit()
    assert before is not None
    assert after is not None
    assert (before.limit, before.remaining - after.remaining) == (50, 1)


def test_gitcodes_own_client_finds_our_server_as_it_finds_gitcode(
    forge: Forge, server: GitCodeServer
) -> None:
    """The paths and fields of the server that we test against, by somebody who knows GitCode."""
    number = forge.open("Faster", "body", "work", "main").number
    ours = forge.comment(number, "first")
    with gitcode_api.GitCode(
        api_key="gc-alice", owner="team", repo="ops", base_url=f"{server.url}/api/v5"
    ) as client:
        assert client.repos.get().default_branch == "main"
        assert client.users.me().login == "alice"
        pull = client.pulls.get(number=number)
        assert (pull.title, pull.state, pull.head.ref) == ("Faster", "open", "work")
        assert [p.number for p in client.pulls.list(state="open")] == [number]
        assert client.branches.get(branch="work").name == "work"
        client.pulls.create_comment(number=number, body="/optimize")
        assert client.pulls.get_comment(comment_id=ours.id).body == "first"
        client.pulls.add_labels(number=number, labels=["fast"])
        client.pulls.update(number=number, title="Faster still")
        (changed,) = client.pulls.list_files(number=number)
        assert changed.filename == "README.md"
        server.forge().set_permission("bob", "write")
        assert client.members.get_permission(username="bob").permission == "push"
    assert [c.body for c in forge.comments(number)] == ["first", "/optimize"]
    found = forge.merge_request(number)
    assert (found.title, found.labels) == ("Faster still", ("fast",))


@pytest.mark.parametrize(
    ("permission", "expected"),
    [("admin", "admin"), ("push", "write"), ("pull", "read"), ("Custom Role", "none")],
)
def test_permissions_in_our_words(permission: str, expected: str) -> None:
    assert access(permission) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [({"id": 5}, 5), ({"id": "5"}, 5), ({"id": "af3", "note_id": 6}, 6), ({"id": "af3"}, 0)],
)
def test_a_comments_number_is_not_that_of_its_discussion(
    found: dict[str, object], expected: int
) -> None:
    assert comment_id(found) == expected


def test_a_patch_may_be_a_text_too() -> None:
    found = file_diff({"filename": "a.cpp", "status": "added", "patch": "@@ -0,0 +1 @@\n+x\n"})
    assert (found.new, found.added, found.hunks) == ("a.cpp", True, "@@ -0,0 +1 @@\n+x\n")
