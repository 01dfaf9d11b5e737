"""GitHubForge against a mock server made of GitHub's own OpenAPI description.

Prism refuses requests that do not fit the description, and answers with its examples. It cannot
match paths with a slash inside a parameter (files in folders, branches with slashes), knows no
media type of diffs, and is known to fail at reactions; those run against our own server only.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.forge.github import GitHubForge
from bot.forge.model import Status
from bot.testing.forge import LONG_AGO
from tests.bot.forge import definitions

pytestmark = pytest.mark.more_programs

REPO = "/repos/{owner}/{repo}"
USED = {
    "/user": ["get"],
    REPO: ["get"],
    f"{REPO}/branches": ["get"],
    f"{REPO}/git/ref/{{ref}}": ["get"],
    f"{REPO}/git/refs/{{ref}}": ["delete"],
    f"{REPO}/collaborators/{{username}}/permission": ["get"],
    f"{REPO}/contents/{{path}}": ["get"],
    f"{REPO}/pulls": ["get", "post"],
    f"{REPO}/pulls/{{pull_number}}": ["get", "patch"],
    f"{REPO}/issues/{{issue_number}}/labels": ["post"],
    f"{REPO}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{REPO}/issues/comments": ["get"],
    f"{REPO}/issues/comments/{{comment_id}}": ["get", "patch"],
    f"{REPO}/commits/{{ref}}/status": ["get"],
    f"{REPO}/statuses/{{sha}}": ["post"],
    f"{REPO}/commits/{{ref}}/check-runs": ["get"],
    f"{REPO}/check-runs": ["post"],
    f"{REPO}/check-runs/{{check_run_id}}": ["patch"],
}


def trimmed(spec: dict[str, Any], address: str) -> str:
    """The description of what we use, with what it refers to, at another address."""
    kept: dict[str, Any] = {"paths": {}, "components": {}}
    for path, verbs in USED.items():
        found = spec["paths"][path]
        kept["paths"][path] = {k: v for k, v in found.items() if k in (*verbs, "parameters")}
    todo, seen = [json.dumps(kept["paths"])], set()
    while todo:
        for reference in todo.pop().split('"$ref": "#/')[1:]:
            place = reference.split('"', 1)[0]
            if place in seen:
                continue
            seen.add(place)
            _, kind, name = place.split("/")
            value = spec["components"][kind][name]
            kept["components"].setdefault(kind, {})[name] = value
            todo.append(json.dumps(value))
    whole = {"openapi": spec["openapi"], "info": spec["info"], "servers": [{"url": address}]}
    return json.dumps(whole | kept).replace("https://api.github.com", address)


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    folder = tmp_path_factory.mktemp("prism")
    (folder / "spec.json").write_text(trimmed(definitions.github_openapi(), address))
    command = [*definitions.prism(), "mock", "-h", "127.0.0.1", "-p", str(port)]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([*command, "spec.json"], cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(f"{address}/user", server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait(10)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"Prism did not start: {log.read_text()[-500:]}")


@pytest.fixture
def forge(prism: str) -> GitHubForge:
    return GitHubForge("octocat/Hello-World", "ghp_x", api=prism, between_writes_s=0)


@pytest.fixture
def app(prism: str) -> GitHubForge:
    return GitHubForge(
        "octocat/Hello-World", "ghs_x", api=prism, account="a[bot]", between_writes_s=0
    )


SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"


def test_a_repository_and_its_branches_are_read(forge: GitHubForge, prism: str) -> None:
    home = forge.repository()
    assert (home.name, home.default_branch) == ("octocat/Hello-World", "master")
    assert home.push_url == "https://github.com/octocat/Hello-World.git"
    assert forge.viewer() == "octocat"
    assert forge.branches() == {"master": "c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc"}
    assert forge.permission("octocat") == "admin"
    assert forge.rate_limit() is None


def test_a_pull_request_is_read_listed_and_written(forge: GitHubForge) -> None:
    found = forge.merge_request(1347)
    assert (found.number, found.title, found.state) == (1347, "Amazing new feature", "merged")
    assert (found.source_branch, found.target_branch, found.head) == ("new-topic", "master", SHA)
    assert (found.author, found.labels) == ("octocat", ("bug",))
    assert found.place == "https://github.com/octocat/Hello-World/pull/1347"
    (listed,) = forge.merge_requests()
    assert listed.number == 1347
    made = forge.open("Faster", "body", "new-topic", "master")
    assert made.number == 1347
    assert forge.update(1347, title="new", body="text").number == 1347


def test_comments_and_labels_fit_the_description(forge: GitHubForge) -> None:
    (found,) = forge.comments(1347, since=LONG_AGO)
    assert (found.id, found.author, found.merge_request) == (1, "octocat", 1347)
    assert found.author_is_bot
    assert forge.comment(1347, "Me too").body == "Me too"
    assert forge.edit_comment(1347, 1, "Me too").id == 1
    assert forge.recent_comments(LONG_AGO).comments == ()
    forge.add_labels(1347, ["bug", "enhancement"])


def test_statuses_fit_the_description(forge: GitHubForge) -> None:
    assert {s.context for s in forge.statuses(SHA)} == {
        "continuous-integration/jenkins",
        "security/brakeman",
    }
    forge.set_status(SHA, Status(context="ascendopt", state="pending", target_url="https://a.b"))


@pytest.mark.parametrize("state", ["pending", "success", "failure", "error", "neutral"])
def test_check_runs_fit_the_description(
    app: GitHubForge, monkeypatch: pytest.MonkeyPatch, state: Any
) -> None:
    (found,) = app.statuses(SHA)
    assert (found.context, found.state) == ("mighty_readme", "neutral")
    status = Status(context="ascendopt", state=state, description="d", summary="| a |")
    app.set_status(SHA, status)
    get = app._rest.get
    monkeypatch.setattr(app._rest, "get", lambda *a: get(*a) | {"check_runs": []})
    app.set_status(SHA, status)


@pytest.mark.parametrize(
    "act",
    [
        lambda f: f._rest.ask("x", "POST", f._path("/pulls"), {"title": "no branches"}),
        lambda f: f._rest.ask("x", "POST", f._path("/check-runs"), {"name": "no commit"}),
        lambda f: f._rest.ask("x", "PATCH", f._path("/issues/comments/1"), {"text": "?"}),
    ],
)
def test_the_mock_does_refuse_what_does_not_fit(
    forge: GitHubForge, act: Callable[[GitHubForge], object]
) -> None:
    with pytest.raises(Exception, match="HTTP 4"):
        act(forge)
