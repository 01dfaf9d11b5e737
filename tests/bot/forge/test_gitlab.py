from __future__ import annotations

from typing import Any

import pytest

from bot.forge import ForgeSettings, open_forge
from bot.forge.base import Forge
from bot.forge.gitlab_words import access, comment, message
from bot.forge.gitlab_words import level as level_of
from bot.forge.model import Status
from bot.testing.forge import LONG_AGO
from tests.bot.forge.contract_http import HttpForgeContract
from tests.bot.forge.definitions import gitlab_shapes
from tests.bot.forge.server.gitlab import GitLabServer

SERVER = GitLabServer
TOKENS = {"glpat-secret": "ascendopt", "glpat-alice": "alice"}


def connected(server: GitLabServer, token: str) -> Forge:
    settings = ForgeSettings(forge="gitlab", repository="team/ops", url=server.url)
    return open_forge(settings, token)


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


def test_a_draft_stays_one_when_its_title_is_written(forge: Forge, server: GitLabServer) -> None:
    """GitLab has no field for it: a title without the word makes it ready to merge."""
    number = forge.open("Draft: Faster", "", "work", "main").number
    assert forge.merge_request(number).draft
    for _ in range(2):
        assert forge.update(number, "2.00x faster", "again").draft
        assert forge.merge_request(number).title == "Draft: 2.00x faster"
    server.forge().update(number, "Ready")
    assert not forge.update(number, "3.00x faster").draft


def test_an_issue_of_a_token_account_is_a_bots(forge: Forge, server: GitLabServer) -> None:
    numbers = [server.issues.open(name, "/create") for name in ("project_12_bot_af3c", "alice")]
    begun = {c.merge_request: c for c in forge.recent_issues(LONG_AGO).comments}
    for number, bot in zip(numbers, (True, False), strict=True):
        assert (forge.issue(number).author_is_bot, begun[number].author_is_bot) == (bot, bot)


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


# GitLab's answers as python-gitlab's own tests record them, read from its source distribution.
# They are thin: most lack fields that the real answers have. So our server answers with its own
# fields, and the recorded ones over them: names and types must then still be what we read.


def over(ours: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Recorded fields in place of our own of that name, whose type must be theirs."""
    common = {key: recorded[key] for key in recorded.keys() & ours.keys()}
    for key, value in common.items():
        assert type(value) is type(ours[key]), key
    return ours | common


def test_a_recorded_merge_request_is_read(
    forge: Forge, server: GitLabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = forge.open("one", "", "work", "main").number
    recorded = gitlab_shapes("test_merge_requests")["mr_content"]
    shown = server.shown
    monkeypatch.setattr(server, "shown", lambda m: over(shown(m), recorded))
    found = forge.merge_request(number)
    assert (found.number, found.title) == (recorded["iid"], recorded["title"])
    assert (found.body, found.state) == (recorded["description"], "merged")
    assert forge.merge_requests() == [found]


def test_a_recorded_user_is_the_viewer(
    forge: Forge, server: GitLabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = gitlab_shapes("test_members")["billable_members_content"][0]
    user = server.user
    monkeypatch.setattr(server, "user", lambda name: over(user(name), recorded))
    assert forge.viewer() == recorded["username"]


def test_a_recorded_membership_has_a_level_that_we_know() -> None:
    modules = ("test_users", "test_projects")
    levels = [
        value
        for module in modules
        for shape in gitlab_shapes(module).values()
        for element in (shape if isinstance(shape, list) else [shape])
        if isinstance(element, dict)
        for key, value in element.items()
        if key in ("access_level", "group_access")
    ]
    assert levels
    assert all(access(int(level)) in ("read", "write", "admin") for level in levels)


@pytest.mark.parametrize(
    "odd", [{"state": "blocked"}, {"state": "awaiting"}, {"membership_state": "awaiting"}]
)
def test_who_is_blocked_or_waits_to_be_let_in_may_do_nothing(odd: dict[str, str]) -> None:
    member = {"username": "eve", "access_level": 50, "state": "active"}
    assert level_of(member, "eve") == 50
    assert level_of(member | {"membership_state": "active"}, "eve") == 50
    assert level_of(member | odd, "eve") == level_of(member, "evelyn") == 0


def test_a_recorded_project_is_named_by_its_path(
    forge: Forge, server: GitLabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = (v for v in gitlab_shapes("test_project_import_export").values())
    recorded = next(p for p in projects if isinstance(p, dict) and "path_with_namespace" in p)
    repo = server.repo
    monkeypatch.setattr(server, "repo", lambda name: over(repo(name), recorded))
    assert forge.repository().name == recorded["path_with_namespace"]
