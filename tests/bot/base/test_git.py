from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.base.git import Git, GitError, login
from ci.model.errors import EnvironmentProblem
from tests.bot.make import OPERATOR_PATH, SOURCES, TILING, repository


def test_the_top_of_a_checkout_is_found_from_below(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    assert Git(checkout / OPERATOR_PATH).top() == checkout
    assert Git(tmp_path).top() is None


def test_a_failure_is_gits_own_sentence(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git checkout failed: error: pathspec 'none'"):
        Git(repository(tmp_path)).run("checkout", "none")


def test_a_missing_git_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="apt-get install"):
        Git(tmp_path).run("status")


def test_content_comes_byte_for_byte(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    assert git.show("HEAD", f"{OPERATOR_PATH}/{TILING}") == SOURCES[TILING].encode()
    assert git.show("HEAD", "none") is None


def test_of_many_objects_only_those_that_are_files_are_read(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    blob = git.run("rev-parse", f"HEAD:{OPERATOR_PATH}/{TILING}").strip()
    folder = git.run("rev-parse", f"HEAD:{OPERATOR_PATH}").strip()
    found = git.blobs(["0" * 40, folder, blob])
    assert found == {blob: SOURCES[TILING].encode()}


def test_hooks_of_a_repository_do_not_run(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    hook = checkout / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    identity = {f"GIT_{r}_{p}": "x" for r in ("AUTHOR", "COMMITTER") for p in ("NAME", "EMAIL")}
    Git(checkout).run("commit", "--allow-empty", "-q", "-m", "x", env=identity)
    assert not (tmp_path / "ran").exists()


def test_an_option_in_place_of_a_revision_is_no_commit(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    assert git.commit("--all") is None
    assert git.commit("HEAD") == git.run("rev-parse", "HEAD").strip()


def answers(git: Git, *arguments: str, env: dict[str, str]) -> bool:
    try:
        return bool(git.run(*arguments, env=env).strip())
    except GitError:
        return False


def test_a_login_is_sent_to_its_own_server_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Kept")
    env = login("https://forge.example.org/team/ops.git", "bot", "s3cret")
    git = Git(tmp_path)
    asked = ("config", "--get-urlmatch", "http.extraHeader")
    basic = base64.b64encode(b"bot:s3cret").decode()
    found = git.run(*asked, "https://forge.example.org/other", env=env)
    assert found.strip() == f"Authorization: Basic {basic}"
    for other in (
        "https://example.org/",
        "http://forge.example.org/",
        "https://forge.example.org:1/",
    ):
        assert not answers(git, *asked, other, env=env)
    assert git.run("config", "user.name", env=env).strip() == "Kept"


@pytest.mark.parametrize("read", [lambda g: g.run("log"), lambda g: g.show("HEAD", "x")])
def test_what_does_not_end_is_given_up(
    read: Callable[[Git], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.base.git.TIMEOUT_S", 1e-9)
    with pytest.raises(GitError, match="did not end within"):
        read(Git(tmp_path))
