"""GitLab's answers as python-gitlab's own tests record them, read from its source distribution.

They are thin: most lack fields that the real answers have. So our server answers with its own
fields, and the recorded ones over them: names and types must then still be what GitLabForge reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.forge.base import Forge
from bot.forge.gitlab_words import access
from tests.bot.forge.definitions import gitlab_shapes
from tests.bot.forge.server.gitlab import GitLabServer
from tests.bot.forge.test_gitlab import TOKENS, connected


@pytest.fixture
def server(checkout: Path, tmp_path: Path) -> Iterator[GitLabServer]:
    made = GitLabServer(tmp_path / "origin.git", TOKENS)
    yield made
    made.stop()


@pytest.fixture
def forge(server: GitLabServer) -> Forge:
    return connected(server, "glpat-secret")


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


def test_a_recorded_project_is_named_by_its_path(
    forge: Forge, server: GitLabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = (v for v in gitlab_shapes("test_project_import_export").values())
    recorded = next(p for p in projects if isinstance(p, dict) and "path_with_namespace" in p)
    project = server.project
    monkeypatch.setattr(server, "project", lambda *a: over(project(*a), recorded))
    assert forge.repository().name == recorded["path_with_namespace"]
