from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.forge import ForgeSettings, forge_of_checkout, open_forge
from bot.forge.github import GitHubForge
from bot.forge.kinds import forge_at, server_of
from bot.forge.settings import Remote, parse_remote, settings_of, token_of
from ci.model.errors import InputError
from tests.bot.make import git


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/cann/ops.git", Remote("https://github.com", "cann/ops")),
        ("https://user:pw@gitlab.com/a/b/c", Remote("https://gitlab.com", "a/b/c")),
        ("http://127.0.0.1:8080/team/ops.git", Remote("http://127.0.0.1:8080", "team/ops")),
        ("git@gitcode.com:cann/ops.git", Remote("https://gitcode.com", "cann/ops")),
        ("ssh://git@github.com:22/cann/ops", Remote("https://github.com", "cann/ops")),
        ("/srv/git/ops.git", None),
        ("../origin.git", None),
        ("file:///srv/git/ops.git", None),
        ("x" * 5000 + ":a/b", Remote(f"https://{'x' * 5000}", "a/b")),
    ],
    ids=lambda given: str(given)[:40],
)
def test_an_address_tells_server_and_repository(url: str, expected: Remote | None) -> None:
    assert parse_remote(url) == expected


ODD = [
    "https://x:s3cret@github.com:99999/a/b",
    "https://x:s3cret@github.com:x/a/b",
    "https://x:s3cret@[::1/a/b",
    "https://x:s3cret@git\u2100hub.com/a/b",
    "https://x:s3cret@evil.example\\@github.com/a/b",
    "https://x:s3cret@github.com\t.evil.example/a/b",
]


@pytest.mark.parametrize("url", ODD)
def test_an_address_that_cannot_be_read_is_a_sentence_without_its_password(url: str) -> None:
    with pytest.raises(InputError, match="cannot be read") as refused:
        parse_remote(url)
    assert "s3cret" not in str(refused.value)
    assert server_of(url) == ("", "", None) and forge_at(url) is None
    with pytest.raises(InputError):
        open_forge(ForgeSettings(forge="github", repository="a/b", url=url), "t")
    with pytest.raises(InputError, match="not sent there"):
        token_of("github", {"ASCENDOPT_TOKEN": "t", "ASCENDOPT_FORGE_URL": url})


def test_an_address_without_a_repository_is_named_without_its_password(checkout: Path) -> None:
    with pytest.raises(InputError, match="is no repository on github") as refused:
        settings_of("github", checkout, "https://x:s3cret@github.com/one")
    assert "s3cret" not in str(refused.value)


SSH = """
Host github.com-work work-hub
  HostName github.com
Host lab
  HostName gitlab.example.org
Host gitlab.example.com
  HostName ssh-of-gitlab.example.com
Host git.example.com
  HostName 10.0.0.7
Host github.work gitlab.work
  HostName gitlab.example.org
Host hub.work
  HostName GitHub.com
"""


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh")
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com-work:a/b.git", Remote("https://github.com", "a/b")),
        ("work-hub:a/b", Remote("https://github.com", "a/b")),
        ("ssh://git@ssh.github.com:443/a/b.git", Remote("https://github.com", "a/b")),
        ("ssh://git@altssh.gitlab.com:443/a/b", Remote("https://gitlab.com", "a/b")),
        ("lab:a/b", Remote("https://gitlab.example.org", "a/b")),
        ("git@gitlab.example.com:a/b", Remote("https://gitlab.example.com", "a/b")),
        ("git@git.example.com:a/b", Remote("https://git.example.com", "a/b")),
        ("git@github.work:a/b", Remote("https://gitlab.example.org", "a/b")),
        ("ssh://git@gitlab.work:29418/a/b", Remote("https://gitlab.example.org", "a/b")),
        ("hub.work:a/b", Remote("https://github.com", "a/b")),
        ("-oProxyCommand=x:a/b", Remote("https://-oProxyCommand=x", "a/b")),
    ],
)
def test_a_host_of_ssh_is_the_server_that_a_persons_settings_say(
    url: str, expected: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(SSH)
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/config "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert parse_remote(url) == expected


@pytest.mark.parametrize(
    ("server", "forge"),
    [
        ("https://github.com", "github"),
        ("https://github.example.com", "github"),
        ("https://gitlab.example.org", "gitlab"),
        ("https://gitcode.com", "gitcode"),
        ("https://notgithub.com", None),
        ("https://example.org", None),
    ],
)
def test_a_server_tells_its_forge_or_nothing(server: str, forge: str | None) -> None:
    assert (kind.name if (kind := forge_at(server)) else None) == forge


def test_a_checkout_tells_its_forge(checkout: Path) -> None:
    git(checkout, "remote", "add", "hub", "git@github.com:cann/ops.git")
    found = settings_of("auto", checkout, "hub")
    assert (found.forge, found.repository, found.url) == (
        "github",
        "cann/ops",
        "https://github.com",
    )
    assert settings_of("auto", checkout, "origin").forge == "local"


def test_an_address_that_tells_nothing_must_be_said(checkout: Path) -> None:
    git(checkout, "remote", "add", "own", "https://code.example.org/a/b.git")
    with pytest.raises(InputError, match="does not tell which forge"):
        settings_of("auto", checkout, "own")
    assert settings_of("gitlab", checkout, "own").url == "https://code.example.org"


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("https://github.com/team/ops.git", ("https://mirror.example/hub/", "https://github.com/")),
        ("git@github.com:team/ops.git", ("https://mirror.example/hub/", "git@github.com:")),
        ("gh:team/ops.git", ("https://github.com/", "gh:")),
    ],
)
def test_a_mirror_that_git_fetches_from_is_not_the_forge(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, written: str, rule: tuple[str, str]
) -> None:
    mine = checkout.parent / "gitconfig"
    mine.write_text(f'[url "{rule[0]}"]\n insteadOf = "{rule[1]}"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mine))
    git(checkout, "remote", "add", "hub", written)
    found = settings_of("auto", checkout, "hub")
    assert (found.forge, found.repository, found.url) == (
        "github",
        "team/ops",
        "https://github.com",
    )


@pytest.mark.parametrize("name", ["a/b/c", "a/..", "a/b%20c"])
def test_an_address_of_another_form_is_a_sentence(checkout: Path, name: str) -> None:
    with pytest.raises(InputError, match="is no repository of GitHub: write owner/name"):
        settings_of("github", checkout, f"https://github.com/{name}")


def test_a_folder_is_no_repository_on_github(checkout: Path) -> None:
    with pytest.raises(InputError, match="no repository on github"):
        settings_of("github", checkout, "origin")


def test_a_missing_token_names_where_it_is_looked_for() -> None:
    with pytest.raises(InputError, match="ASCENDOPT_TOKEN, GITHUB_TOKEN"):
        token_of("github", {})
    assert token_of("github", {"GITHUB_TOKEN": "b", "ASCENDOPT_TOKEN": "a"}) == "a"


def test_settings_alone_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPT_TOKEN", "t")
    assert isinstance(open_forge(ForgeSettings(forge="github", repository="a/b")), GitHubForge)


def test_a_checkout_of_github_connects(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPT_TOKEN", "t")
    git(checkout, "remote", "add", "hub", "https://github.com/cann/ops.git")
    assert isinstance(forge_of_checkout("auto", checkout, "hub"), GitHubForge)
